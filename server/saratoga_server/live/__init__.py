"""What this process holds: sessions, tables, races, and the executor of effects."""

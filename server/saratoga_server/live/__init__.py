"""The live state of this process: sessions, tables and races, and the executor of effects."""

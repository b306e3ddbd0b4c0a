"""A player at a table: its state, the commands, the records, and the checks of a fair deal."""

"""The session of a player at a table: state, commands, race records and fairness checks."""

"""The house, open: every command to who serves it, and what goes on by itself."""

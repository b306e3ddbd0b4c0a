"""The client of Saratoga: all programs that a player runs."""

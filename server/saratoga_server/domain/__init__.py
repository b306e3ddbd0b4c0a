"""What players and tables may be called."""

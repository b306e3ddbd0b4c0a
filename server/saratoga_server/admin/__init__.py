"""What administrators may do to a running server, and backups."""

"""The administrator's commands for a running server, and backups."""

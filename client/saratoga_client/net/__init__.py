"""The connection to a server: it reconnects by itself and repeats unanswered commands."""

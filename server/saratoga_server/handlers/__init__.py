"""What each command does, and the dispatcher that hands commands to their handlers."""

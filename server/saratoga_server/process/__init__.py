"""The operating system process: its log, signals, limits and parent."""

"""The operating system process: signals, systemd, limits, garbage collection."""

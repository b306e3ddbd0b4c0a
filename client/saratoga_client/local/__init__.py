"""What is on this machine: settings, files, tokens, the terminal, and a server of its own."""

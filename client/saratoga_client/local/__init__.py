"""The player's machine: settings, files, tokens, the terminal, and a local server."""

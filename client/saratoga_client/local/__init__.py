"""The player's machine: settings, files, tokens, terminal capabilities, and a local server."""

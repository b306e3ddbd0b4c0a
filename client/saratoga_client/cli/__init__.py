"""The command line, one module per command.

A command's module is imported only when the command is used. Slow imports (the connection, rich)
are inside the commands, because scripts often run short ones such as `leaderboard --json`.
"""

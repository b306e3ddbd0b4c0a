"""The command line, one module per command.

A verb's module is imported only when the verb is used, and what is heavy (the connection,
rich) only inside the verb: `saratoga leaderboard --json` is often run by scripts.
"""

"""What a player can say on the command line, one module a verb.

A verb's module is imported only when the verb is used, and what is heavy (the connection,
rich) only inside the verb: `saratoga leaderboard --json` is often run by scripts.
"""

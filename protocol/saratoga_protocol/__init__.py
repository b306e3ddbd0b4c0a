"""The wire: what a player's program and the server say to each other.

`commands` is everything a player may say, `events` everything the server may say, `refusals`
every reason for a no; `codec` turns them into frames and back. `protocol/README.md` is the
same in prose, for other languages.
"""

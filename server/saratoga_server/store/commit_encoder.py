"""Encode batches of commits for the store: a whole batch is one MessagePack argument of one call.

Calls are assembled from parts that are encoded once; packing each call as a command would cost 0.2 us
more per commit.
"""

from collections.abc import Sequence
from typing import Final

import msgpack

from saratoga_server.ports import BoardCommit
from saratoga_server.store.confirmations import confirmation_commands
from saratoga_server.store.keys import race_key
from saratoga_server.store.library import function_name
from saratoga_server.store.resp_connection import encode_command

_RACES_REMEMBERED: Final = 2_000


class CommitEncoder:
    """An encoder of requests: a Function call, followed by commands that ask for a replica's confirmation."""

    def __init__(self, *, replicated: bool, on_disk: bool) -> None:
        """`replicated`: a write is durable once a replica has it, `on_disk`: on its disk."""
        commands = confirmation_commands(on_disk=on_disk) if replicated else ()
        self._confirmation = b"".join(encode_command(*command) for command in commands)
        self.confirmations = len(commands)
        """The number of replies that follow the reply to the call."""
        self._packer = msgpack.Packer(use_bin_type=False)
        self._function = _bulk("FCALL") + _bulk(function_name("commit_boards"))
        self._heads: dict[int, bytes] = {}
        """The encoded beginning of a call, by the number of its keys."""
        self._race_keys: dict[tuple[str, int], bytes] = {}

    def encode(self, commits: Sequence[BoardCommit], *, resent: bool) -> bytes:
        """Return the request for a batch.

        Raises `TypeError`, `ValueError` or `OverflowError` if a commit cannot be encoded.
        """
        places: dict[bytes, int] = {}
        boards = []
        race_keys = self._race_keys
        for commit in commits:
            race = (commit.table, commit.race)
            key = race_keys.get(race) or self._remember_race(race)
            boards.append(
                (
                    places.setdefault(key, len(places) + 1),
                    commit.player,
                    commit.epoch,
                    commit.command_id,
                    commit.after,
                    commit.banked,
                    commit.state,
                    commit.rises,
                    commit.late,
                    commit.entries,
                )
            )
        batch = self._packer.pack((resent, boards))
        head = self._heads.get(len(places)) or self._remember_head(len(places))
        end = b"\r\n" + self._confirmation
        return b"".join((head, *places, b"$%d\r\n" % len(batch), batch, end))

    def _remember_head(self, keys: int) -> bytes:
        head = self._heads[keys] = b"*%d\r\n%b%b" % (keys + 4, self._function, _bulk(str(keys)))
        return head

    def _remember_race(self, race: tuple[str, int]) -> bytes:
        if len(self._race_keys) >= _RACES_REMEMBERED:
            self._race_keys.clear()
        key = self._race_keys[race] = _bulk(race_key(*race))
        return key


def _bulk(text: str) -> bytes:
    encoded = text.encode()
    return b"$%d\r\n%b\r\n" % (len(encoded), encoded)

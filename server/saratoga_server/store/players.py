"""Players and their names."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from msgspec.structs import fields

from saratoga_server.ports import Damage, Millis, PlayerRow
from saratoga_server.store.client import Answer, StoreClient
from saratoga_server.store.keys import GUEST_KEPT, NAME_KEPT, name_key, player_key, streaks_key
from saratoga_server.store.save import MISSING, Save, pack, unpack

MOST_GIVEN_UP: Final = 3
"""The most names that are held for a player who has given them up; the oldest of more is freed."""

_FIELDS = tuple(field.name for field in fields(PlayerRow) if field.name != "player")


class NotClaimed(Enum):
    """Why a player was not given a name."""

    TAKEN = auto()
    """Another player has it, or one that looks like it."""
    GONE = auto()
    """There is no such player."""


class _Changed(Enum):
    CHANGED = auto()
    """The row was changed meanwhile: read it again."""


class PlayerStore:
    """The players in the store, and their names."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def load_player(self, player: str) -> PlayerRow | None:
        return _row(player, await self._client.command("HMGET", player_key(player), *_FIELDS))

    async def meet_player(self, player: str) -> PlayerRow | None:
        """Count a hello of the player and return the row with its number in `hello`."""
        if await self.load_player(player) is None:
            return None
        key = player_key(player)
        # need not be durable: a store that lost a number lost its connections too
        counted = [("HINCRBY", key, "hello", 1), ("HMGET", key, *_FIELDS)]
        row = _row(player, (await self._client.commands(counted))[1])
        if row is not None and row.name is None:
            await self._client.command("PEXPIRE", key, GUEST_KEPT)
        return row

    async def load_names(self, players: Sequence[str]) -> dict[str, str]:
        """Return the present name of each player that has one."""
        names = await self._client.commands(
            [("HGET", player_key(each), "name") for each in players]
        )
        return {
            player: name.decode()
            for player, name in zip(players, names, strict=True)
            if name is not None
        }

    async def create_player(self, row: PlayerRow) -> PlayerRow:
        """Store the player unless there is a row already; return the stored row."""
        # without the name: only `claim_name` checks whether another player has it
        key, save = player_key(row.player), Save()
        save.only_if(_Changed.CHANGED, key, "token_hash", MISSING)
        save.do("HSET", key, "token_hash", row.token_hash, "bot", int(row.bot), "banned", 0)
        save.do("HSET", key, "table", "", "created", row.created, "hello", row.hello)
        save.do("PEXPIRE", key, GUEST_KEPT)
        await self._client.save(save)
        return await self.load_player(row.player) or row

    async def claim_name(
        self, player: str, name: str, skeleton: str, *, by_admin: bool = False
    ) -> NotClaimed | None:
        """Give the player a name and hold the old one; return `None`, or why not.

        Only an administrator can give a name that is held for nobody.
        """
        key = player_key(player)
        while True:
            stored = await self._client.command("HMGET", key, "token_hash", "skeleton", "given_up")
            token_hash, old, packed = stored
            if token_hash is None:
                return NotClaimed.GONE
            held = [each for each in (unpack(packed) if packed else []) if each != skeleton]
            if old is not None and old.decode() != skeleton:
                held = [*(each for each in held if each != old.decode()), old.decode()]
            freed = await self._held_by(player, held[:-MOST_GIVEN_UP])
            save = Save()
            save.only_if(_Changed.CHANGED, key, "skeleton", MISSING if old is None else old)
            save.only_if(_Changed.CHANGED, key, "token_hash", token_hash)
            holders = (MISSING, player, "") if by_admin else (MISSING, player)
            save.only_if(NotClaimed.TAKEN, name_key(skeleton), "", *holders)
            for each in freed:
                save.only_if(_Changed.CHANGED, name_key(each), "", player, MISSING)
                save.do("UNLINK", name_key(each))
            save.do("SET", name_key(skeleton), player)
            if old is not None and old.decode() != skeleton:
                save.do("PEXPIRE", name_key(old.decode()), NAME_KEPT)
            save.do("HSET", key, "name", name, "skeleton", skeleton)
            save.do("HSET", key, "given_up", pack(held[-MOST_GIVEN_UP:]))
            save.do("PERSIST", key)
            reason = await self._client.save(save)
            if reason is not _Changed.CHANGED:
                return reason if isinstance(reason, NotClaimed) else None

    async def _held_by(self, player: str, skeletons: Sequence[str]) -> list[str]:
        """Return the names among these that are still held for the player."""
        holders = await self._client.commands([("GET", name_key(each)) for each in skeletons])
        pairs = zip(skeletons, holders, strict=True)
        return [each for each, holder in pairs if holder == player.encode()]

    async def find_player(self, skeleton: str) -> str | None:
        """Return the player who holds the name with that skeleton; empty: it is held for nobody."""
        player = await self._client.command("GET", name_key(skeleton))
        return None if player is None else player.decode()

    async def set_banned(self, player: str, banned: bool) -> None:
        await self._set(player, "banned", int(banned))

    async def free_seat(self, player: str, table: str) -> None:
        """Remove an unreadable table from the row of a player, who may then sit elsewhere."""
        await self._set(player, "table", "", only_if=table)

    async def _set(self, player: str, field: str, value: str | int, only_if: str = "") -> None:
        key, save = player_key(player), Save()
        save.only_if(None, key, "token_hash", MISSING, unless=True)
        if only_if:
            save.only_if(None, key, field, only_if)
        save.do("HSET", key, field, value)
        await self._client.save(save)

    async def forget_player(self, player: str) -> None:
        """Delete the player's row. The names are held for nobody: nothing says whose they were."""
        key = player_key(player)
        skeleton, packed = await self._client.command("HMGET", key, "skeleton", "given_up")
        names = [*(unpack(packed) if packed else ()), *([skeleton.decode()] if skeleton else ())]
        save = Save()
        save.only_if(None, key, "token_hash", unless=True)
        for each in await self._held_by(player, names):
            save.do("SET", name_key(each), "")
            save.do("PEXPIRE", name_key(each), NAME_KEPT)
        save.do("UNLINK", key)
        save.do("UNLINK", streaks_key(player))
        await self._client.save(save)


def _row(player: str, stored: list[Answer]) -> PlayerRow | None:
    """Return a stored row; `None` if there is none. Raises `Damage` if it cannot be read."""
    found = dict(zip(_FIELDS, stored, strict=True))
    if found["token_hash"] is None:
        return None
    try:
        return PlayerRow(
            player=player,
            token_hash=found["token_hash"].decode(),
            name=None if found["name"] is None else found["name"].decode(),
            bot=found["bot"] == b"1",
            banned=found["banned"] == b"1",
            table=found["table"].decode() or None,
            made=(found["made"] or b"").decode(),
            made_by=(found["made_by"] or b"").decode(),
            created=Millis(int(found["created"])),
            hello=int(found["hello"] or 0),
        )
    except (
        ValueError,
        TypeError,
        AttributeError,
    ) as fault:  # a field is no number, no text, or missing
        raise Damage(f"the row of player {player} cannot be read: {fault}") from None

"""Players and their names."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import fields

from saratoga_server.messages.packing import pack
from saratoga_server.ports import Damage, Millis, PlayerRow, Reservation, RowTable
from saratoga_server.store.keys import GUEST_KEPT, NAME_KEPT, name_key, player_key
from saratoga_server.store.store_client import Answer, StoreClient

_FIELDS = tuple(field.name for field in fields(PlayerRow) if field.name != "player")

NOT_NEW: Final = -1
"""The answer of the Function `claim_name` if there is no player, or the command is old."""


class PlayerStore:
    """The players in the store, and their names."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def load_player(self, player: str) -> PlayerRow | None:
        return _row(player, await self._client.command("HMGET", player_key(player), *_FIELDS))

    async def meet_player(self, player: str) -> PlayerRow | None:
        """Count a hello of the player and return the row with its number in `hello`."""
        # need not be durable: the numbers are times, so a lost one is lower than the next one
        keys = (player_key(player),)
        return _row(player, await self._client.read("meet_player", keys, GUEST_KEPT, *_FIELDS))

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
        stored = ["token_hash", row.token_hash, "bot", int(row.bot), "banned", int(row.banned)]
        stored += ["last_id", row.last_id, "table", row.table or "", "created", row.created]
        stored += ["hello", row.hello]
        packed = pack([GUEST_KEPT, *stored])
        await self._client.write("create_player", (player_key(row.player),), packed)
        return await self.load_player(row.player) or row

    async def claim_name(
        self, player: str, name: str, skeleton: str, command_id: int = 0, *, by_admin: bool = False
    ) -> bool | None:
        """Give the player a name and hold the old one; False: another has its skeleton.

        Return `None` if the player does not exist, or this or a later command was carried out before. Only an
        administrator can give a name that is held for nobody.
        """
        keys = (player_key(player), name_key(skeleton))
        args = (player, name, skeleton, command_id, NAME_KEPT, int(by_admin))
        outcome = await self._client.write("claim_name", keys, *args)
        return None if outcome == NOT_NEW else bool(outcome)

    async def find_player(self, skeleton: str) -> str | None:
        """Return the player who holds the name with that skeleton; empty: it is held for nobody."""
        player = await self._client.command("GET", name_key(skeleton))
        return None if player is None else player.decode()

    async def sit(
        self, player: str, table: str, instead_of: RowTable | None = None
    ) -> RowTable | None:
        """Write `table` to the row, unless it names another one; return that one.

        The other one is replaced if it is `instead_of`, and was not written again since; if
        `instead_of.writes` is 0, even then.
        """
        replaced = instead_of or RowTable("", 0)
        key = player_key(player)
        there, writes = await self._client.write("sit", (key,), GUEST_KEPT, table, *replaced)
        return _row_table(there, writes)

    async def stand_up(self, player: str, table: str, writes: int = 0) -> bool:
        """Remove the table from the player's row; return False if the row still names a table.

        With `writes`, nothing is removed if the row's table was written since.
        """
        return await self.sit(player, "", RowTable(table, writes)) is None

    async def note_join(self, player: str, table: str, command_id: int) -> None:
        """Note the player's newest `join_table`; the highest accepted command id never falls."""
        key = player_key(player)
        await self._client.write("note_join", (key,), GUEST_KEPT, command_id, table)

    async def set_banned(self, player: str, banned: bool) -> None:
        key = player_key(player)
        await self._client.write("set_player", (key,), GUEST_KEPT, "banned", int(banned))

    async def reserve_table(
        self, player: str, command_id: int, code: str, instead_of: str | None = None
    ) -> Reservation:
        """Reserve a table code for a `create_table` command, in the player's row.

        A repeated command gets the same code, unless that is `instead_of`, and the row stays as it is. The
        codes of the newest commands are kept. It is empty without a player, or if `is_stale`.
        """
        reserved, name, there, writes, repeated = await self._client.write(
            "reserve_table", (player_key(player),), GUEST_KEPT, command_id, code, instead_of or ""
        )
        return Reservation(
            code=reserved.decode(),
            name=name.decode() or None,
            elsewhere=_row_table(there, writes),
            is_repeat=repeated == 1,
            is_stale=repeated == -1,
        )

    async def forget_player(self, player: str) -> None:
        """Delete the player's name and row."""
        await self._client.write("forget_player", (player_key(player),), player, NAME_KEPT)


def _row_table(table: bytes, writes: int) -> RowTable | None:
    return RowTable(table.decode(), writes) if table else None


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
            last_id=int(found["last_id"]),
            table=found["table"].decode() or None,
            table_writes=int(found["table_writes"] or 0),
            created=Millis(int(found["created"])),
            hello=int(found["hello"] or 0),
            claims=tuple(map(int, (found["claims"] or b"").split())),
            joined=(found["joined"] or b"").decode(),
        )
    except (
        ValueError,
        TypeError,
        AttributeError,
    ) as fault:  # a field is no number, no text, or missing
        raise Damage(f"the row of player {player} cannot be read: {fault}") from None

"""Ratings follow from the list of ranked races: the same on every node, without voided races and forgotten players."""

from kit.in_process_server import InProcessServer
from kit.players import MemoryPlayer
from saratoga_protocol.commands import GetLeaderboard, NextRace
from saratoga_protocol.events import Leaderboard, RaceOver
from saratoga_server.live.leaderboards import LEAST_RACES
from saratoga_server.ports import Millis


async def ratings(player: MemoryPlayer, game: str = "klondike") -> list[tuple[str, int, int, int]]:
    page = await player.ask(GetLeaderboard, game=game, ranking="rating")
    assert isinstance(page, Leaderboard), page
    return [(row.name, row.value, row.doubt, row.races) for row in page.rows]


async def raced(server: InProcessServer, races: int) -> tuple[MemoryPlayer, MemoryPlayer, str]:
    """Race so often that Anna, who banks what she can while Ben banks nothing, wins more than Ben."""
    anna, ben = await server.player("Anna", legal=True), await server.player("Ben")
    code = await server.race(anna, ben, game="klondike")
    for number in range(1, races + 1):
        await ben.cash_out()
        for _ in range(60):
            up = [text for text in anna.board.legal or [] if text.endswith(">up")]
            if anna.board.state != "racing" or not (up or "draw" in (anna.board.legal or [])):
                break
            await anna.moves(up[0] if up else "draw")
        since = len(anna.received.events)
        if anna.board.state == "racing":
            await anna.cash_out()
            await anna.expect(RaceOver, since)
        await server.settle()
        if number < races:
            await anna.ask(NextRace, table=code, race=f"{code}/{number}")
            await server.deal(anna, ben)
    return anna, ben, code


async def test_a_player_is_rated_from_the_fifth_race_on(server: InProcessServer) -> None:
    anna, _, _ = await raced(server, LEAST_RACES - 1)
    assert await ratings(anna) == []
    page = await anna.ask(GetLeaderboard, game="klondike", ranking="rating", bots=True)
    assert page.rows == []


async def test_the_stronger_is_first_on_every_node_and_a_void_or_a_goodbye_counts(
    server: InProcessServer,
) -> None:
    anna, ben, code = await raced(server, LEAST_RACES + 1)
    (first, strong, doubt, races), (second, weak, _, _) = await ratings(anna)
    assert (first, second, races) == ("Anna", "Ben", LEAST_RACES + 1)
    assert strong > 1500 > weak
    assert 0 < doubt < 700
    for around_me, name in ((False, "Anna"), (True, "Ben")):
        page = await ben.ask(
            GetLeaderboard, game="klondike", ranking="rating", limit=1, around_me=around_me
        )
        assert ([row.name for row in page.rows], page.me.name) == ([name], "Ben")
    rows = await ratings(anna)
    boards = server.real.leaderboards
    assert await boards.void_race("klondike", code, 1, [anna.player, ben.player])
    voided = await ratings(anna)
    assert [row[3] for row in voided] == [LEAST_RACES] * 2
    assert voided != rows
    await server.restart()
    again = await server.player("Anna")
    assert await ratings(again) == voided, "another node computes the same"
    await boards.forget_results(ben.player, Millis(server.time.at))
    assert [row[0] for row in await ratings(again)] == ["Anna"]

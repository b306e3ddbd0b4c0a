"""Races on deals that differ in hidden cards send every player the same bytes.

A race is scripted on one deal and run again on another, which differs only in cards that a player has
not turned up. Everything else is the same in both runs: tokens, seeds, codes, and the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kit.in_process_server import (
    InProcessServer,
    always,
    counted_down,
    gathered,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from kit.secrecy import ODD_MOVES, Leak, is_up, leak, rearranged, slots, turned_up
from kit.tables import CODE
from kit.walks import banking, wandering
from saratoga_protocol.codec import JSON
from saratoga_protocol.commands import JoinTable
from saratoga_protocol.events import Refused
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS


@pytest.fixture(autouse=True)
def _nothing_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.handlers.seats.table_code", lambda chance: CODE)
    monkeypatch.setattr("saratoga_server.node.secrets.token_hex", lambda count: "00" * count)


@dataclass
class RecordedRun:
    """Everything that each player was sent in one run of a scripted race."""

    streams: dict[str, list[bytes | str]] = field(default_factory=dict)
    marks: list[dict[str, int]] = field(default_factory=list)
    """The number of frames that each player had been sent, before the first step and after each step."""

    def until(self, name: str, step: int) -> list[bytes | str]:
        return self.streams[name][: self.marks[step][name]]


BERT_COMES_BACK = 9
"""The step before which Bert's connection is lost and replaced."""

Script = Sequence[tuple[str, str]]
"""The moves of both racers, in order."""


def scripted(game: str, opening: Position, chance: Random, steps: int) -> Script:
    """Return random legal moves for Anna and Bert; Anna makes more of them."""
    boards = {"Anna": opening, "Bert": opening}
    script = []
    for _ in range(steps):
        name = chance.choice(("Anna", "Anna", "Bert"))
        legal = legal_moves(GAMES[game], boards[name])
        if not legal:
            break
        move = (banking if chance.random() < 0.7 else wandering)(legal, chance)
        boards[name] = play(GAMES[game], boards[name], move)
        script.append((name, str(move)))
    return script


def ways(game: str, opening: Position, script: Script) -> dict[str, list[list[Position]]]:
    """Return each racer's positions up to each step; index 0 is before the first step."""
    so_far = {"Anna": [opening], "Bert": [opening]}
    found = {name: [list(way)] for name, way in so_far.items()}
    for mover, move in script:
        way = so_far[mover]
        way.append(play(GAMES[game], way[-1], parse_move(move)))
        for name in found:
            found[name].append(list(so_far[name]))
    return found


async def run_script(opening: Position, game: str, script: Script) -> RecordedRun:
    """Run the script on this deal; all but the cards is the same in every run."""
    async with open_in_process_server(always(opening)) as server:
        anna = await server.player("Anna", legal=True, subprotocol=JSON)
        bert = await server.player("Bert")
        wanda = await server.player("Wanda")
        players = {"Anna": anna, "Bert": bert}
        run = RecordedRun({name: each.received.frames for name, each in players.items()})
        run.streams["Wanda"] = wanda.received.frames
        code = await gathered(anna, bert, game=game)
        await wanda.at_table(JoinTable, table=code, seat=False)
        await counted_down(anna, bert)
        await server.pass_time(COUNTDOWN_MILLIS)
        _mark(run)
        for number, (name, move) in enumerate(script):
            if number == BERT_COMES_BACK:
                players["Bert"] = await reconnected(server, bert, code)
            player = players[name]
            for odd in ODD_MOVES:
                if parse_or_none(odd) not in legal_moves(GAMES[game], _position(server, player)):
                    assert isinstance(await player.move(odd), Refused)
            server.time.at += 700
            await player.move(move)
            await server.settle()
            list(server.node.broadcaster.send_standings())
            _mark(run)
        return run


def _mark(run: RecordedRun) -> None:
    run.marks.append({name: len(frames) for name, frames in run.streams.items()})


def parse_or_none(text: str) -> object:
    try:
        return parse_move(text)
    except ValueError:
        return None


def _position(server: InProcessServer, player: MemoryPlayer) -> Position:
    race = server.node.races.known(server.state(player.table.code).race_id)
    assert race is not None
    board = race.runs[player.player].board
    assert board is not None
    return board.position


async def reconnected(server: InProcessServer, old: MemoryPlayer, code: str) -> MemoryPlayer:
    """Connect Bert again; frames to the new connection are added to the same list."""
    await old.disconnect()
    new = server.connect(old.name, legal=old.legal)
    new.connection.received = new.received = old.received
    new.last_id = old.last_id
    await new.hello()
    await new.at_table(JoinTable, table=code)
    return new


@dataclass
class Case:
    game: str
    opening: Position
    script: Script
    chance: Random
    way: dict[str, list[list[Position]]]


def case(game: str, number: int, steps: int = 36) -> Case:
    chance = Random(f"secrets of {game} {number}")
    opening = deal_for_key(GAMES[game], practice_key(f"secrets {number}"))
    script = scripted(game, opening, chance, steps)
    return Case(game, opening, script, chance, ways(game, opening, script))


def check_same_frames(base: RecordedRun, other: RecordedRun, name: str, step: int) -> None:
    """Raise `Leak` unless this player was sent the same in both runs up to that step."""
    ours, theirs = base.until(name, step), other.until(name, step)
    if ours != theirs:
        number = next(n for n, frame in enumerate(ours) if [frame] != theirs[n : n + 1])
        raise Leak(f"{name}, frame {number}: {ours[number]!r}, and {theirs[number : number + 1]}")


@pytest.mark.parametrize("game", GAMES)
async def test_cards_not_turned_up_change_nothing_for_any_player(
    game: str,
) -> None:
    it = case(game, 1)
    last = {name: way[-1] for name, way in it.way.items()}
    hidden = [
        slot for slot in slots(it.opening) if not any(is_up(slot, way) for way in last.values())
    ]
    base = await run_script(it.opening, game, it.script)
    assert len(hidden) > 4
    for _ in range(3):
        shuffled = it.chance.sample(hidden, len(hidden))
        deal = rearranged(it.opening, dict(zip(hidden, shuffled, strict=True)))
        assert deal != it.opening
        other = await run_script(deal, game, it.script)
        assert other.streams == base.streams


@pytest.mark.parametrize("game", GAMES)
async def test_a_swapped_card_changes_nothing_until_its_player_turns_it_up(
    game: str,
) -> None:
    it = case(game, 2)
    base = await run_script(it.opening, game, it.script)
    shown = 0
    for _ in range(10):
        one, two = it.chance.sample(slots(it.opening), 2)
        deal = rearranged(it.opening, {one: two, two: one})
        if deal == it.opening:  # two packs: the swapped cards may be equal
            continue
        first = {name: first_up(way, one, two) for name, way in it.way.items()}
        end = min([len(it.script), *(step for step in first.values() if step is not None)])
        other = await run_script(deal, game, it.script[:end])
        for name in base.streams:
            mine = first.get(name)
            # Other players notice nothing, even at the step that turns the card up.
            check_same_frames(base, other, name, end - 1 if mine == end else end)
        for name, step in first.items():
            if step == end:
                shown += 1
                with pytest.raises(Leak):
                    check_same_frames(base, other, name, end)
    assert shown, "no swap was ever turned up: this would pass without looking"


def first_up(
    way: Sequence[list[Position]], one: tuple[str, int], two: tuple[str, int]
) -> int | None:
    """Return the first step after which one of the two slots is turned up."""
    for step, so_far in enumerate(way):
        if is_up(one, so_far) or is_up(two, so_far):
            return step
    return None


@pytest.mark.parametrize("game", GAMES)
async def test_cards_that_one_racer_turns_up_are_not_sent_to_others(
    game: str,
) -> None:
    opening = deal_for_key(GAMES[game], practice_key("drawn"))
    script = [("Anna", "draw")] * 4
    drawn, _ = turned_up(ways(game, opening, script)["Anna"][-1])
    early = [("stock", n) for n in range(drawn)]
    turned = dict(zip(early, reversed(early), strict=True))
    base, other = (
        await run_script(opening, game, script),
        await run_script(rearranged(opening, turned), game, script),
    )
    assert base.streams["Anna"] != other.streams["Anna"]
    assert base.streams["Bert"] == other.streams["Bert"]
    assert base.streams["Wanda"] == other.streams["Wanda"]


def is_red(card: str) -> bool:
    return card[1] in "HD"


async def test_a_server_that_leaks_hidden_cards_fails_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = case("canfield", 1)
    last = ("reserve", len(it.opening.reserve) - 1)
    assert not any(is_up(last, way[-1]) for way in it.way.values())
    other = next(
        ("reserve", n)
        for n, card in enumerate(reversed(it.opening.reserve))
        if n and is_red(card) != is_red(it.opening.reserve[0])
    )

    def whispered(view: Any, position: Position) -> Any:
        # Not the name of a card, but a value that depends on one.
        return replace(view, passes=view.passes + is_red(position.reserve[0]))

    leak(monkeypatch, "wire_view", whispered)
    base = await run_script(it.opening, it.game, it.script)
    deal = rearranged(it.opening, {last: other, other: last})
    changed = await run_script(deal, it.game, it.script)
    with pytest.raises(Leak, match="Anna"):
        check_same_frames(base, changed, "Anna", 0)

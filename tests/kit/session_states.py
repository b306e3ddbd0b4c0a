"""Events of an invented table, and the client's session states after those events."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import asdict, replace

from kit.messages import racer
from kit.positions import banking, wandering
from kit.races import Entrant, race
from saratoga_client.session.differ import with_news
from saratoga_client.session.state import SessionState, first_state, next_state
from saratoga_protocol import events
from saratoga_protocol.events import Match
from saratoga_protocol.matches import with_race
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.position import Position, redact
from saratoga_rules.records.record import RaceRecord
from saratoga_server.domain.results import outcome_of

CODE = "mint-otter-42"
RACE = f"{CODE}/1"
YOU = "youuuuuuuuuuuuuu"
START = 1_790_000_000_000
CAP = 600_000

NAMES = {"a": "ana", "r": "raj", "m": "mei", "o": "Otto"}


def player(letter: str) -> str:
    """Return a player's id, made from a letter; the session belongs to the player `y`."""
    return YOU if letter == "y" else (letter * 16)[:16]


def seat(letter: str, **more: object) -> events.Seat:
    """Return the seat of the player with that letter; only Otto is a bot."""
    given: dict[str, object] = {"name": NAMES.get(letter, f"racer {letter}"), "bot": letter == "o"}
    if letter == "y":
        given["name"] = "Zoë"
    return events.Seat(player=player(letter), **(given | more))  # type: ignore[arg-type]


def racer_of(letter: str) -> events.Racer:
    """Return the racer with that letter."""
    return racer(player(letter), seat(letter).name, letter == "o")


def table(
    letters: str = "yar",
    phase: str = "running",
    version: int = 1,
    game: str = "canfield",
    host: str = "y",
    race: str = RACE,
    seats: Sequence[events.Seat] | None = None,
) -> events.Table:
    has_times = phase in ("call", "countdown", "running", "over")
    return events.Table(
        code=CODE,
        version=version,
        host=player(host),
        phase=phase,
        settings=events.TableSettings(game=game, cap=10, seats=16, public=False),
        race=race,
        rules=2,
        commitment="c0" * 32,
        seats=list(seats) if seats is not None else [seat(letter) for letter in letters],
        racers=[racer_of(letter) for letter in letters] if has_times and phase != "call" else [],
        start_at=START if has_times else 0,
        deadline=START + CAP if has_times else 0,
    )


def standings(text: str, game: str = "canfield", race: str = RACE) -> events.Standings:
    """Return standings written as `a21 y15 r12:stuck`, first place first; `=` marks a tie."""
    rows: list[events.Standing] = []
    for number, word in enumerate(text.split(), start=1):
        shares = word.startswith("=")
        racer, _, state = word.lstrip("=").partition(":")
        banked = int(racer[1:])
        rows.append(
            events.Standing(
                player=player(racer[0]),
                place=rows[-1].place if shares else number,
                banked=banked,
                net=net(GAMES[game], banked),
                state=state or "racing",
                head="0" * 16,
            )
        )
    return events.Standings(race=race, standings=rows)


def outcome(text: str, game: str = "canfield") -> events.Outcome:
    """Return an outcome, written in the same notation as for `standings`."""
    return events.Outcome(
        race=RACE,
        game=game,
        results=[events.Result(**asdict(row), moves=40) for row in standings(text, game).standings],
        seed="0f" * 32,
        nonces={},
        digest="ab" * 32,
    )


def match(*races: str, length: int = 3) -> Match:
    """Return a match after races whose results are written as for `standings`."""
    after = Match(races=length, finished=[], rows=[])
    for number, text in enumerate(races, 1):
        raced = [racer_of(word.lstrip("=")[0]) for word in text.split()]
        after = with_race(after, replace(outcome(text), race=f"{CODE}/{number}"), raced)
    return after


class Matched(NamedTuple):
    """A table in a match."""

    table: events.Table
    match: Match | None

    @property
    def changes(self) -> tuple[events.Event, events.Event]:
        """The events that show this table, and then its match."""
        return (
            events.TableChanged(table=self.table, now=START),
            events.MatchChanged(table=CODE, match=self.match),
        )


def in_match(shown: events.Table, *races: str, length: int = 3) -> Matched:
    """Return the table in a match after these races; without races, before its first one has finished."""
    shown = replace(shown, settings=replace(shown.settings, races=length))
    return Matched(shown, match(*races, length=length) if races else None)


def opening(game: str = "canfield", key: int = 0) -> Position:
    """Return an opening position of the game, dealt from the key."""
    return deal_for_key(GAMES[game], bytes([key]) * 32)


def board(
    position: Position | None = None,
    count: int = 0,
    state: str = "racing",
    game: str = "canfield",
    race: str = RACE,
) -> events.BoardView:
    """Return a player's board as the server sends it."""
    position = opening(game) if position is None else position
    return events.BoardView(
        race=race,
        count=count,
        view=wire_view(redact(position)),
        banked=position.banked,
        net=net(GAMES[game], position.banked),
        state=state,
        head="0" * 16,
    )


def snapshot(
    text: str = "",
    own: events.BoardView | None = None,
    shown: events.Table | Matched | None = None,
    now: int = START,
) -> events.Snapshot:
    shown = table() if shown is None else shown
    shown, match = shown if isinstance(shown, Matched) else (shown, None)
    rows = standings(text, shown.settings.game).standings if text else []
    return events.Snapshot(table=shown, now=now, board=own, standings=rows, match=match)


def state_after(
    *received: events.Event, first: events.Snapshot | None = None, every: int = 10_000
) -> SessionState:
    """Return the session state after these events, received one every `every` milliseconds."""
    shown = first_state(YOU, snapshot("y1 =a1 =r1", board()) if first is None else first)
    present = with_news(None, shown, START)
    for number, event in enumerate(received, start=1):
        present = after(present, event, START + number * every)
    return present


def after(before: SessionState, event: events.Event, now: int) -> SessionState:
    """Return the session state after an event, with its news."""
    return with_news(before, next_state(before, event, now), now)


REVIEWED = (
    Entrant("Anna", banking, patience=60),
    Entrant("Otto", wandering, patience=30),
    Entrant("Zoë", banking, bot=True, patience=45),
)


@cache
def finished(name: str = "lafayette", seed: int = 1) -> RaceRecord:
    """Return the record of a finished race of two people and a bot, to be reviewed."""
    return race(name, seed, REVIEWED)


ENTRANTS = (
    Entrant("ana", banking),
    Entrant("Zoë", wandering, patience=90),
    Entrant("Otto", banking, bot=True, patience=40),
)


@cache
def finished_race(game: str = "canfield", seed: int = 1) -> RaceRecord:
    """Return the record of a race of Ana, who banks cards, Zoë, who plays at random, and a bot."""
    return race(game, seed, ENTRANTS)


def over(record: RaceRecord, you: str = "Zoë", host: str = "ana", races: int = 3) -> SessionState:
    """Return the session state of the player `you` after a race, with all players' totals."""
    raced = {each.player: racer(each.player, each.name, each.bot) for each in record.racers}
    ids = {each.name: each.player for each in record.racers}
    outcome = outcome_of(record, "ab" * 32)
    seats = [
        events.Seat(
            player=result.player,
            name=raced[result.player].name,
            bot=raced[result.player].bot,
            races=races,
            wins=int(result.place == 1),
            net=races * result.net,
        )
        for result in outcome.results
    ]
    shown = table(phase="over", version=9, race=f"{CODE}/{record.race}", seats=seats)
    shown = replace(
        shown,
        host=ids[host],
        settings=replace(shown.settings, game=record.game, cap=record.cap, public=record.public),
        rules=record.rules_version,
        commitment=record.commitment,
        racers=list(raced.values()),
    )
    return first_state(ids[you], events.Snapshot(table=shown, now=START + CAP, outcome=outcome))

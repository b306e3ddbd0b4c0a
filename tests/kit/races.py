"""Records of whole races and of voided ones, played by strategies at invented times."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from kit.positions import Strategy, banking
from saratoga_protocol import events
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position
from saratoga_rules.records.record import (
    CLOSED,
    NONCE_MISSING,
    RACER_GONE,
    RACER_LEFT,
    LogLine,
    Previous,
    RaceRecord,
    RacerLog,
    digest_of,
    format_record,
)
from saratoga_rules.records.replay import ReplayError, Step, game_of, state_of, steps
from saratoga_rules.records.standing import (
    RacerScore,
    Reached,
    State,
    last_reached,
    may_be_ranked,
    ranking,
)
from saratoga_rules.stuck.stuck import is_stuck, may_declare


def settled(record: RaceRecord) -> RaceRecord:
    """Return the record with the places that follow from its logs, as far as they replay."""
    game, scores = game_of(record), []
    rows = {row.player: row for row in record.results}
    for racer in record.racers:
        try:
            made = steps(record, racer.player)
            scores.append(score(record, racer.player, made))
        except ReplayError:
            row = rows[racer.player]
            reached = None if row.reached is None else Reached(row.reached, row.place)
            scores.append(
                RacerScore(player=row.player, banked=row.banked, state=row.state, reached=reached)
            )
    return replace(record, results=tuple(ranking(game, scores)))


def score(record: RaceRecord, player: str, made: Sequence[Step]) -> RacerScore:
    """Return a racer's score after the replay of the log."""
    counts = [(position.banked, Reached(line.at, line.number)) for line, position in made]
    return RacerScore(
        player=player,
        banked=made[-1].position.banked if made else record.opening.banked,
        state=state_of(game_of(record), made, record.opening),
        reached=last_reached(record.opening.banked, counts),
    )


def replay(record: RaceRecord, player: str) -> list[Position]:
    """Return the deal and the position after each entry of a racer's log. Raises as `steps`."""
    return [record.opening, *(step.position for step in steps(record, player))]


def renumbered(record: RaceRecord) -> RaceRecord:
    """Return the record with its commit numbers replaced, in order, by 1, 2, 3 ..."""
    entries = sorted(
        (line.number, place, index)
        for place, racer in enumerate(record.racers)
        for index, line in enumerate(racer.log)
    )
    numbers = {(place, index): n for n, (_, place, index) in enumerate(entries, start=1)}
    racers = [
        replace(
            racer,
            log=tuple(
                replace(line, number=numbers[place, index]) for index, line in enumerate(racer.log)
            ),
        )
        for place, racer in enumerate(record.racers)
    ]
    return replace(record, racers=tuple(racers))


def promised(record: RaceRecord) -> RaceRecord:
    """Return the record with the commitment that follows from its other lines."""
    seed = bytes.fromhex(record.seed)
    made = commitment(
        seed,
        record.game,
        record.rules_version,
        record.table,
        record.race,
        cap=record.cap,
        public=record.public,
    )
    return replace(record, commitment=made)


def with_racer(record: RaceRecord, racer: RacerLog, **changes: object) -> RaceRecord:
    """Return the record with one racer changed."""
    changed = replace(racer, **changes)  # type: ignore[arg-type]
    return replace(
        record, racers=tuple(changed if each is racer else each for each in record.racers)
    )


def with_line(record: RaceRecord, racer: RacerLog, index: int, **changes: object) -> RaceRecord:
    """Return the record with one entry of a racer's log changed."""
    log = list(racer.log)
    log[index] = replace(log[index], **changes)  # type: ignore[arg-type]
    return with_racer(record, racer, log=tuple(log))


def with_row(record: RaceRecord, index: int, **changes: object) -> RaceRecord:
    """Return the record with one line of the results changed."""
    rows = list(record.results)
    rows[index] = replace(rows[index], **changes)  # type: ignore[arg-type]
    return replace(record, results=tuple(rows))


class Entry(NamedTuple):
    """An entry, with the racer whose log has it and its place there."""

    line: LogLine
    racer: RacerLog
    place: int


def entries_of(record: RaceRecord) -> list[Entry]:
    """Return all entries of a race by commit number."""
    found = [
        Entry(line, racer, index) for racer in record.racers for index, line in enumerate(racer.log)
    ]
    return sorted(found, key=lambda entry: entry.line.number)


def sealed(lines: list[str]) -> str:
    """Return the lines of a record with the digest that fits them."""
    body = "\n".join([*lines, "digest"])
    return f"{body} {digest_of(body + chr(10))}\n"


def position_before(record: RaceRecord, racer: RacerLog, index: int) -> Position:
    """Return the position before an entry of a log."""
    return replay(record, racer.player)[index]


TABLE = "mint-otter-42"
CAP = 10
DEADLINE = CAP * 60_000
BEFORE = Previous(f"{TABLE}/1", "ab" * 32)


def countdown_voided(record: RaceRecord, reason: str = NONCE_MISSING) -> RaceRecord:
    """Return the race's record if its countdown was voided, by the first racer if one is to blame."""
    player = record.racers[0].player
    racers = tuple(
        replace(
            each,
            log=(),
            nonce="" if reason == NONCE_MISSING and each.player == player else each.nonce,
        )
        for each in record.racers
    )
    is_blamed = reason in (NONCE_MISSING, RACER_LEFT, RACER_GONE)
    return replace(
        record,
        deal=None,
        ranked=False,
        voided=reason,
        blamed=(player,) if is_blamed else (),
        racers=racers,
        results=(),
    )


def ended(record: RaceRecord) -> events.Ended:
    """Return the race as a table shows it afterwards."""
    digest = digest_of(format_record(record))
    return events.Ended(
        race=record.race_id, digest=digest, reason=record.voided, blamed=list(record.blamed)
    )


def void_record(race_id: str = f"{TABLE}/1") -> RaceRecord:
    """Return the record of a race of one racer that was voided because its table was closed."""
    number = int(race_id.rpartition("/")[2])
    return closed(race("canfield", number - 1, [Entrant("Anna", banking, patience=9)]), 3)


def voided_race(race_id: str = f"{TABLE}/1") -> events.Ended:
    """Return the same race as a table shows it."""
    return ended(void_record(race_id))


def closed(record: RaceRecord, number: int, damaged: str = "") -> RaceRecord:
    """Return the race's record if its table was closed after the entry with a commit number.

    The log of the player `damaged` could not be read after its first entry.
    """
    racers = [
        replace(
            racer,
            log=tuple(line for line in racer.log if line.number <= number)[
                : 1 if racer.player == damaged else None
            ],
            damaged=racer.player == damaged,
        )
        for racer in record.racers
    ]
    return replace(record, voided=CLOSED, racers=tuple(racers), results=())


@dataclass(frozen=True)
class Entrant:
    """A racer and its strategy."""

    name: str
    strategy: Strategy
    bot: bool = False
    patience: int = 400
    """The number of moves after which the racer ends the board."""
    goes: State = State.CASH_OUT
    """The state in which the board ends: cashed out or left."""
    player: str = ""
    """The racer's id; by default it follows from the name."""


@dataclass
class _Board:
    entrant: Entrant
    position: Position
    log: list[LogLine] = field(default_factory=list)
    state: State = State.RACING


def race(
    name: str,
    seed: int,
    entrants: Sequence[Entrant],
    pace: int = 1500,
    public: bool = True,
    previous: Previous | None = None,
) -> RaceRecord:
    """Return the record of a finished race, with at most `pace` milliseconds between entries."""
    game = GAMES[name]
    chance = Random(f"race {name} {seed}")
    secret = chance.randbytes(32)
    nonces = {_player(entrant): chance.randbytes(16) for entrant in entrants}
    deal = deal_for_key(game, deal_key(secret, f"{TABLE}/{seed + 1}", nonces))
    boards = {_player(entrant): _Board(entrant, deal) for entrant in entrants}
    _run(game, boards, chance, pace)
    racers = tuple(
        RacerLog(
            player=player,
            name=board.entrant.name,
            bot=board.entrant.bot,
            nonce=nonces[player].hex(),
            nonce_hash=nonce_hash(nonces[player]),
            log=tuple(board.log),
        )
        for player, board in sorted(boards.items())
    )
    record = RaceRecord(
        game=name,
        rules_version=RULES_VERSION,
        table=TABLE,
        race=seed + 1,
        start_at=1_788_278_400_000 + seed,
        cap=CAP,
        public=public,
        commitment=commitment(secret, name, RULES_VERSION, TABLE, seed + 1, cap=CAP, public=public),
        seed=secret.hex(),
        deal=deal,
        previous=previous,
        ranked=may_be_ranked(cap=CAP, racers=sum(not each.bot for each in racers)),
        racers=racers,
        results=(),
    )
    return settled(record)


def _player(entrant: Entrant) -> str:
    return (
        entrant.player
        or (entrant.name.encode().hex().translate(str.maketrans("0189", "wxyz")) * 16)[:16]
    )


def _run(game: Game, boards: dict[str, _Board], chance: Random, pace: int) -> None:
    now, number = 0, 0
    while racing := [board for board in boards.values() if board.state is State.RACING]:
        now += chance.randint(0, pace)
        board = chance.choice(racing)
        for text in _entries(game, board, now, chance):
            number += 1
            board.log.append(LogLine(now, number, text))


def _entries(game: Game, board: _Board, now: int, chance: Random) -> list[str]:
    """Make the next move of a board; return the entries that it adds to the log."""
    legal = legal_moves(game, board.position)
    if now >= DEADLINE:
        board.state = State.OUT_OF_TIME
        return [board.state]
    if not legal or len(board.log) >= board.entrant.patience:
        board.state = board.entrant.goes
        return [board.state]
    move = board.entrant.strategy(legal, chance)
    board.position = play(game, board.position, move)
    if is_won(game, board.position):
        board.state = State.WON
    elif may_declare(board.position) and is_stuck(game, board.position, limit=20):
        board.state = State.STUCK
        return [str(move), board.state]
    return [str(move)]

"""Audit a race: compare the server's record with the players' notes and the rules.

`disagreements` compares what the server announced, what each player was sent move by move, and the
positions that the rules compute from the record. It describes each difference in a sentence.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from kit.races import replay
from kit.recorded_players import Acknowledged, Notes
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardView, Outcome
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.position import Position, redact
from saratoga_rules.records.record import RaceRecord, RacerLog, digest_of, parse_record
from saratoga_rules.records.standing import LOG_ENDINGS
from saratoga_rules.records.verify import verify
from saratoga_server.ports import StoredBoard


def disagreements(text: str, all_notes: Sequence[Notes]) -> list[str]:
    """Describe where a race's record, its announced result and the players' notes differ.

    A player that was disconnected when the race ended need not have received the result.
    """
    record = parse_record(text)
    found = [f"verify: {fault.name}: {fault.detail}" for fault in verify(text.encode()).faults]
    for notes in all_notes:
        found.extend(f"{notes.player}: {fault}" for fault in _faults(record, text, notes))
    return found


def _faults(record: RaceRecord, text: str, notes: Notes) -> Iterator[str]:
    race = record.race_id
    if race in notes.outcomes:
        yield from _faults_of_result(record, text, notes.outcomes[race])
    if notes.commitments.get(race, record.commitment) != record.commitment:
        yield "was shown another commitment"
    hashes = {racer.player: racer.nonce_hash for racer in record.racers}
    if notes.nonce_hashes.get(race, hashes) != hashes:
        yield "was shown other nonce hashes"
    if notes.player in hashes:
        yield from _faults_of_board(record, record.racer(notes.player), notes)
    elif done := notes.of_race(race):
        yield f"had {len(done)} moves acknowledged and is no racer in the record"


def _faults_of_result(record: RaceRecord, text: str, outcome: Outcome) -> Iterator[str]:
    announced = [(r.place, r.player, r.banked, r.net, r.reached, r.state) for r in outcome.results]
    recorded = [(r.place, r.player, r.banked, r.net, r.reached, r.state) for r in record.results]
    if announced != recorded:
        yield f"was sent the results {announced}, and the record has {recorded}"
    if outcome.digest != digest_of(text):
        yield "was sent another digest"
    if (outcome.seed, outcome.ranked) != (record.seed, record.ranked):
        yield "was sent another seed, or another ranked mark"
    if outcome.nonces != {racer.player: racer.nonce for racer in record.racers}:
        yield "was sent other nonces"
    if any(nonce_hash(bytes.fromhex(r.nonce)) != r.nonce_hash for r in record.racers):
        yield "was sent a nonce that does not fit its hash"


def _faults_of_board(record: RaceRecord, racer: RacerLog, notes: Notes) -> Iterator[str]:
    """Compare every board that the player was sent with the boards that its moves produce."""
    positions = replay(record, racer.player)
    opening = notes.openings.get(record.race_id)
    if opening is not None and opening.view != wire_view(redact(record.opening)):
        yield "was dealt another position"
    done = notes.of_race(record.race_id)
    yield from _faults_of_moves(racer, done)
    for board in notes.shown.get(record.race_id, ()):
        yield from _faults_of_view(record, positions, board)
    yield from notes.taken_back.get(record.race_id, ())
    end = positions[-1]
    last = _last_seen(notes, record.race_id)
    result = next(row for row in record.results if row.player == racer.player)
    if last is not None and (last.banked, last.state, last.view) != (
        result.banked,
        result.state,
        wire_view(redact(end)),
    ):
        yield f"ended with {last.banked} ({last.state}), not {result.banked} ({result.state})"
    if (result.banked, result.net) != (end.banked, net(GAMES[record.game], end.banked)):
        yield f"the moves come to {end.banked}, the result is {result.banked}, {result.net} dollars"


def _last_seen(notes: Notes, race: str) -> BoardView | None:
    """Return the last board that the player must have been sent.

    Return `None` if the player was disconnected after its last move: the server may have ended the board
    meanwhile, and the race may have been over when the player reconnected.
    """
    if race in notes.ended:
        return notes.ended[race]
    over = [board for board in notes.shown.get(race, ()) if board.state != "racing"]
    if over:
        return over[-1]  # A snapshot: the board ended while the player was disconnected.
    done = notes.of_race(race)
    if not done or any(moment > done[-1].moment for moment in notes.connected):
        return None
    return done[-1].board


def _faults_of_moves(racer: RacerLog, done: Iterable[Acknowledged]) -> Iterator[str]:
    """Check that every acknowledged move is in the racer's log, at its position."""
    places = set()
    for each in done:
        place = len(racer.log) - 1 if each.after is None else each.after
        if place >= len(racer.log) or racer.log[place].text != each.text:
            yield f"{each.text} was acknowledged at {place} and is not there"
        if not each.repeat and place in places:
            yield f"two moves were acknowledged at {place}"
        places.add(place)
    if unknown := [
        f"{line.text} at {place}"
        for place, line in enumerate(racer.log)
        if place not in places and not _is_the_servers(line.text)
    ]:
        yield f"never had an answer to {', '.join(unknown)}"


def _is_the_servers(text: str) -> bool:
    return text in LOG_ENDINGS and text != "cash-out"


def _faults_of_view(
    record: RaceRecord, positions: list[Position], board: BoardView
) -> Iterator[str]:
    if board.count >= len(positions):
        yield f"was shown a board of {board.count} entries"
        return
    position = positions[board.count]
    if board.view != wire_view(redact(position)):
        yield f"was shown another position after {board.count} entries"
    money = net(GAMES[record.game], position.banked)
    if (board.banked, board.net) != (position.banked, money):
        yield f"was sent {board.banked} banked after {board.count} entries, not {position.banked}"


def faults_of_log(stored: StoredBoard, racer: RacerLog, notes: Notes) -> Iterator[str]:
    """Check that every entry of a stored log is one command of the player, carried out once."""
    if [entry.text for entry in stored.entries] != [line.text for line in racer.log]:
        yield "the stored log and the record differ"
    for place, entry in enumerate(stored.entries):
        yield from _faults_of_entry(place, entry.text, notes)


def faults_of_open_board(stored: StoredBoard, done: Sequence[Acknowledged]) -> Iterator[str]:
    """Check that every acknowledged move of a race in play is stored at its position."""
    for each in done:
        place = len(stored.entries) - 1 if each.after is None else each.after
        if place >= len(stored.entries) or stored.entries[place].text != each.text:
            yield f"{each.text} was acknowledged at {place} and is not stored"


def faults_of_count(boards: Sequence[StoredBoard]) -> Iterator[str]:
    """Check that the entries of a race's boards are numbered 1, 2, 3 ... in order of time."""
    entries = sorted((entry.number, entry.at) for board in boards for entry in board.entries)
    if [number for number, _ in entries] != list(range(1, len(entries) + 1)):
        yield "the entries of the race are not numbered one after the other"
    if [at for _, at in entries] != sorted(at for _, at in entries):
        yield "the entries of the race are not in the order of time"


def _faults_of_entry(place: int, text: str, notes: Notes) -> Iterator[str]:
    if _is_the_servers(text):
        return
    for command in notes.sent.values():
        match command:
            case MakeMove(after=after, move=move) if (after, move) == (place, text):
                return
            case CashOut() if text == "cash-out":
                return
    yield f"entry {place}, {text}, is no command that the player sent"


def unnoticed_changes(text: str, chance: Random, times: int) -> list[str]:
    """Change `times` random bytes of a record, one at a time; return the changes that the verifier accepts."""
    whole = text.encode()
    changes = [(chance.randrange(len(whole)), chance.randrange(1, 256)) for _ in range(times)]
    return [f"byte {at} changed by {by}" for at, by in changes if _passes(whole, at, by)]


def _passes(whole: bytes, at: int, by: int) -> bool:
    return verify(whole[:at] + bytes([whole[at] ^ by]) + whole[at + 1 :]).ok

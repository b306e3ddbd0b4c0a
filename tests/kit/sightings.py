"""What an honest server shows a client of a finished race, for comparisons with changed records."""

from collections.abc import Iterator

from msgspec.structs import replace

from kit.races import state_in
from saratoga_client.session.seen_board import SeenBoard, SeenEntry, seen_board
from saratoga_client.session.seen_standings import SeenStanding
from saratoga_client.session.witness import Sighting
from saratoga_protocol import events
from saratoga_protocol.outcomes import outcome_of
from saratoga_protocol.views import wire_view
from saratoga_rules.money import net
from saratoga_rules.position import format_position, redact
from saratoga_rules.records.record import RaceRecord, RacerLog, digest_of, format_record
from saratoga_rules.records.replay import game_of, steps
from saratoga_rules.records.standing import State


def sighting_of(record: RaceRecord, racer: int = 0) -> Sighting:
    """Return all that a racer saw, who got every standing before sending the next move."""
    own = record.racers[racer]
    deadline = record.start_at + record.cap * 60_000 if record.cap else 0
    return Sighting(
        race=record.race_id,
        game=record.game,
        commitment=record.commitment,
        player=own.player,
        nonce=own.nonce,
        nonce_hashes={each.player: each.nonce_hash for each in record.racers},
        names={each.player: [each.name] for each in record.racers},
        bots=[each.player for each in record.racers if each.bot],
        cap=record.cap,
        public=record.public,
        start_at=record.start_at,
        deadline=deadline,
        deal=format_position(redact(record.opening)),
        outcome=announced(record),
        own=tuple(own_board_of(record, racer)),
        standings=tuple(standings_of(record)),
    )


def announced(record: RaceRecord) -> events.Outcome:
    """Return the result that an honest server announces."""
    return outcome_of(record, digest_of(format_record(record)))


def own_board_of(record: RaceRecord, racer: int = 0) -> Iterator[SeenEntry | SeenBoard]:
    """Yield the racer's entries and boards, from the deal on; a move's command id is its commit number."""
    own = record.racers[racer]
    yield seen_board(board_after(record, own, 0))
    for place, line in enumerate(own.log, start=1):
        yield SeenEntry(place, line.at, line.number, line.text, line.number if line.is_move else 0)
        yield seen_board(board_after(record, own, place))


def board_after(record: RaceRecord, own: RacerLog, place: int) -> events.BoardView:
    """Return the board that an honest server shows a racer after so many entries."""
    position = steps(record, own.player)[place - 1].position if place else record.opening
    return events.BoardView(
        race=record.race_id,
        count=place,
        view=wire_view(redact(position)),
        banked=position.banked,
        net=net(game_of(record), position.banked),
        state=state_in(record, own.player) if place == len(own.log) else State.RACING,
        head="0" * 16,
    )


def standings_of(record: RaceRecord) -> list[SeenStanding]:
    """Return the standing of a racer after every entry; a command's id is its commit number."""
    game, shown = game_of(record), []
    for racer in record.racers:
        made = steps(record, racer.player)
        for place, (line, position) in enumerate(made, start=1):
            state = state_in(record, racer.player) if place == len(made) else State.RACING
            shown.append(
                SeenStanding(
                    racer.player,
                    position.banked,
                    net(game, position.banked),
                    str(state),
                    line.number + 1,
                )
            )
    return sorted(shown, key=lambda each: each.before)


def watcher_of(record: RaceRecord) -> Sighting:
    """Return all that a watcher saw from the countdown to the end."""
    return replace(sighting_of(record), player="watcherwatcherwa", nonce="", deal="", own=())

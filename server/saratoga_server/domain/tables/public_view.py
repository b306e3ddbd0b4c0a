"""The public view of a table: what every player and watcher at it may see."""

from saratoga_protocol import events
from saratoga_server.domain.tables.state import TableSeat, TableState


def public_view(table: TableState, version: int) -> events.Table:
    """Return the table for the wire, without seed, nonces, deal key and node names."""
    settings = table.settings
    return events.Table(
        code=table.code,
        version=version,
        host=table.host,
        phase=table.phase.value,
        settings=events.TableSettings(
            game=settings.game,
            cap=settings.cap,
            seats=settings.seats,
            public=settings.public,
            races=settings.races,
        ),
        race=table.race_id,
        rules=table.rules_version,
        commitment=table.commitment,
        seats=[_public_seat(table, seat) for seat in table.seats],
        call_until=table.call_until,
        racers=list(table.racers.values()),
        reveal_by=table.reveal_by,
        start_at=table.start_at,
        deadline=table.deadline,
        ranked=table.ranked,
        notice=table.notice,
        locked=table.locked,
        last_racer=table.last_racer,
        end_from=table.end_from,
        previous=table.previous,
    )


def _public_seat(table: TableState, seat: TableSeat) -> events.Seat:
    return events.Seat(
        player=seat.player,
        name=seat.name,
        bot=seat.bot,
        level=seat.level,
        ready=seat.is_ready,
        connected=seat.is_connected,
        races=seat.races,
        wins=seat.wins,
        net=seat.net,
        voids=table.voids.get(seat.player, 0),
        blocked=table.is_blocked(seat.player),
        epoch=seat.epoch,
    )

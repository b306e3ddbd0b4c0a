"""The public view of a table shows everything but secrets."""

import msgspec
import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    NOON,
    all_ready,
    all_shown,
    counting,
    in_phase,
    nonce,
    nonce_hash,
    over,
    running,
    seated,
)
from saratoga_protocol import events
from saratoga_server.domain.tables import TablePhase, TableState, disconnect, leave, public_view
from saratoga_server.domain.tables.voids import voided_of


def test_the_picture_of_a_gathering_table() -> None:
    table = all_ready(seated(ANN, BEN), BEN)
    gone = disconnect(table, ANN, 1, now=NOON)
    assert gone is not None
    assert public_view(gone.table, 7) == events.Table(
        code="mint-otter-42",
        version=7,
        host=ANN,
        phase="gathering",
        settings=events.TableSettings(game="canfield", cap=10, seats=16, public=False),
        race="mint-otter-42/1",
        commitment=table.commitment,
        seats=[
            events.Seat(player=ANN, name="Ann", connected=False),
            events.Seat(player=BEN, name="Ben", ready=True, nonce_hash=nonce_hash(BEN)),
        ],
    )


def test_only_the_last_voided_races_are_shown() -> None:
    table = running(ANN, BEN)
    voided = tuple(voided_of(replace(table, race=race), {}).voided for race in range(1, 7))
    picture = public_view(replace(table, race=7, voided=voided), 1)
    assert [each.race for each in picture.voided] == [
        f"mint-otter-42/{race}" for race in range(3, 7)
    ]


def test_the_countdown_shows_the_racers_and_the_deadline_of_the_nonces() -> None:
    table = counting(ANN, BEN)
    picture = public_view(table, 1)
    assert picture.racers == [ANN, BEN]
    assert (picture.reveal_by, picture.start_at) == (table.reveal_by, table.start_at)
    assert picture.deadline == table.deadline


def test_a_racer_who_gave_up_the_seat_is_still_named() -> None:
    table = running(ANN, BEN)
    assert public_view(table, 1).departed == []
    gone = leave(table, BEN, 9, now=NOON, fresh_seed=bytes(32)).table
    shown = public_view(gone, 2)
    assert [seat.player for seat in shown.seats] == [ANN]
    assert shown.departed == [events.Seat(player=BEN, name="Ben")]


def test_a_bot_is_shown_as_a_bot() -> None:
    picture = public_view(seated(ANN, BEN, bots=(BEN,)), 1)
    assert [seat.bot for seat in picture.seats] == [False, True]


@pytest.mark.parametrize(
    "table",
    [*map(in_phase, TablePhase), all_shown(counting(ANN, BEN)), running(ANN, BEN), over(ANN, BEN)],
)
def test_no_picture_holds_a_secret(table: TableState) -> None:
    secrets = [table.seed, table.deal_key, nonce(ANN), nonce(BEN), "node-1"]
    shown = msgspec.json.encode(public_view(table, 3)).decode()
    assert not [secret for secret in secrets if secret and secret in shown]

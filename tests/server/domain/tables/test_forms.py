"""A table as bytes, and as the public sees it."""

import msgpack
import pytest

from kit.tables import (
    ANN,
    BEN,
    NOON,
    all_ready,
    nonce_hash,
    running,
    seated,
)
from saratoga_protocol import events
from saratoga_server.domain.tables import (
    disconnect,
    leave,
    pack,
    public_view,
    rename,
    unpack,
)

# Packing of tables into bytes, and unpacking them


def test_a_table_of_an_unknown_game_is_not_read() -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    body["settings"]["game"] = "moonlight"
    with pytest.raises(ValueError, match="does not know the game 'moonlight'"):
        unpack(msgpack.packb(body))


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b"\xc1", b"\x80", b"\x93\x01", pack(seated(ANN)) + b"\x00", b"\xc0"),
        *(msgpack.packb({name: "junk"}) for name in ("rules_version", "seats")),
        msgpack.packb({"seats": [{"seat": 1}]}),
    ],
)
def test_other_bytes_are_no_table(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a packed table"):
        unpack(junk)


# The public view of a table shows everything but secrets


def test_the_picture_of_a_gathering_table() -> None:
    table = all_ready(seated(ANN, BEN), BEN)
    gone = disconnect(table, ANN, 1, now=NOON)
    assert public_view(gone, 7) == events.Table(
        code="mint-otter-42",
        version=7,
        host=ANN,
        phase="gathering",
        settings=events.TableSettings(game="canfield", cap=10, seats=16, public=False),
        race="mint-otter-42/1",
        rules=table.rules_version,
        commitment=table.commitment,
        seats=[
            events.Seat(player=ANN, name="Ann", connected=False, epoch=1),
            events.Seat(player=BEN, name="Ben", ready=True, epoch=2),
        ],
    )


def test_a_racer_who_gave_up_the_seat_and_one_with_a_new_name_stay_in_the_race_as_they_were() -> (
    None
):
    table = running(ANN, BEN)
    named = rename(table, ANN, "Anne")
    gone = leave(named, BEN, now=NOON, fresh_seed=bytes(32))
    shown = public_view(gone, 2)
    assert [(seat.player, seat.name) for seat in shown.seats] == [(ANN, "Anne")]
    assert shown.racers == [
        events.Racer(player=ANN, name="Ann", nonce_hash=nonce_hash(ANN)),
        events.Racer(player=BEN, name="Ben", nonce_hash=nonce_hash(BEN)),
    ]

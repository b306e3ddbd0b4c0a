"""The rows of the list of public tables on the wire."""

import msgspec

from saratoga_protocol.table_rows import TableSummary


def test_a_row_has_every_field_also_one_of_zero() -> None:
    row = TableSummary(
        code="mint-otter-42",
        game="canfield",
        cap=0,
        host="Anna",
        phase="gathering",
        seated=0,
        seats=16,
    )
    sent = msgspec.json.decode(msgspec.json.encode(row))
    assert list(sent) == ["code", "game", "cap", "host", "phase", "seated", "seats"]

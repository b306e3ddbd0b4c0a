from saratoga_protocol.version import LARGEST_NUMBER, SUBPROTOCOLS, WIRE_VERSION


def test_the_subprotocols_name_the_version() -> None:
    assert {name.split(".")[1] for name in SUBPROTOCOLS} == {f"v{WIRE_VERSION}"}


def test_the_largest_number_is_exact_wherever_numbers_are_floats() -> None:
    # RFC 8259, 6: beyond this, readers that keep numbers as doubles disagree.
    assert int(float(LARGEST_NUMBER)) == LARGEST_NUMBER
    assert float(LARGEST_NUMBER + 1) == float(LARGEST_NUMBER + 2)

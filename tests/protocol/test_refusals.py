from saratoga_protocol import refusals
from saratoga_protocol.refusals import MAY_RECONNECT, CloseCode

CLOSE_CODES = [code for code in vars(refusals).values() if isinstance(code, CloseCode)]


def test_close_codes_are_unique() -> None:
    assert len({code.code for code in CLOSE_CODES}) == len(CLOSE_CODES) > 5


def test_close_codes_are_in_the_private_ranges() -> None:
    # RFC 6455, 7.4.2: 4000-4999 are for private use.
    for code in CLOSE_CODES:
        assert 4000 <= code.code < 5000
        assert ("come back" in code.reason) == (code.code in MAY_RECONNECT)


def test_reasons_of_close_codes_fit_a_close_frame() -> None:
    # RFC 6455, 5.5: a control frame carries 125 bytes, two of them the code.
    assert all(len(code.reason.encode()) <= 123 for code in CLOSE_CODES)

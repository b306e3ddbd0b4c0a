import ast
from pathlib import Path

from saratoga_protocol import refusals
from saratoga_protocol.refusals import MAY_RECONNECT, REASONS, CloseCode

CLOSE_CODES = [code for code in vars(refusals).values() if isinstance(code, CloseCode)]


def test_every_code_is_listed_once() -> None:
    source = Path(refusals.__file__).read_text(encoding="utf-8")
    codes = [
        str(call.args[0].value)
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "Reason"
        and isinstance(call.args[0], ast.Constant)
    ]
    assert sorted(codes) == sorted(REASONS)
    assert len(codes) == len(set(codes))


def test_every_reason_is_a_sentence() -> None:
    for reason in REASONS.values():
        assert reason.sentence[0].isupper()
        assert reason.sentence.endswith(".")


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

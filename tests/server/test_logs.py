"""Each log event is one line, without secrets."""

import io
import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator

import pytest

from kit.terminals import TRICKS
from saratoga_server.logs import LONGEST_TEXT, SECRET_WORDS, EventLog, SecretInLog, set_up_logs

log = EventLog("tests")
TOKEN = "0123456789abcdef" * 4
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

SetUp = Callable[..., io.StringIO]


@pytest.fixture
def written() -> Iterator[SetUp]:
    """Yield a function that sets up the logs as a server does, and returns the stream that they write to."""

    def set_up(*, as_json: bool = False, level: str = "info", strict: bool = False) -> io.StringIO:
        stream = io.StringIO()
        set_up_logs(as_json=as_json, level=level, node="east-1", stream=stream, strict=strict)
        return stream

    showwarning = warnings.showwarning
    yield set_up
    set_up_logs(stream=io.StringIO(), strict=True)
    logging.captureWarnings(False)
    assert warnings.showwarning is showwarning


def test_an_event_is_one_line_with_its_logger(written: SetUp) -> None:
    lines = written()
    log.info("race_started", racers=4, player="p1", table="mint-otter-42", race="mint-otter-42/1")
    [line] = lines.getvalue().splitlines()
    time, rest = line.split(" ", 1)
    assert TIME.fullmatch(time)
    assert rest == (
        "info    race_started table=mint-otter-42 race=mint-otter-42/1 player=p1 node=east-1 racers=4"
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_no_text_controls_the_terminal_that_shows_the_log_or_hides_there(
    written: SetUp, as_json: bool
) -> None:
    lines = written(as_json=as_json)
    for trick in TRICKS:
        log.info("audit", reason=f"Ben{trick}")
    shown = lines.getvalue().splitlines()
    assert len(shown) == len(TRICKS)
    assert all(line.isascii() and line.isprintable() for line in shown)


def test_a_program_reads_the_same_fields_as_json(written: SetUp) -> None:
    lines = written(as_json=True)
    log.warning("slow_client", player="p1", pending=300_000, aborted=True, reason=None)
    told = json.loads(lines.getvalue())
    assert TIME.fullmatch(told.pop("time"))
    assert told == {
        "level": "warning",
        "event": "slow_client",
        "player": "p1",
        "node": "east-1",
        "pending": 300_000,
        "aborted": True,
        "reason": None,
    }


@pytest.mark.parametrize("as_json", [False, True])
def test_no_text_breaks_out_of_its_line(written: SetUp, as_json: bool) -> None:
    lines = written(as_json=as_json)
    log.info("hello", client='a b"\n2026 error\r\x85\u2028\x1b[31m=x', flag=False, nothing=None)
    assert len(lines.getvalue().splitlines()) == 1
    assert lines.getvalue().isascii()
    assert "\x1b" not in lines.getvalue()


def test_a_field_cannot_pretend_to_be_the_time_or_the_event(written: SetUp) -> None:
    lines = written(as_json=True)
    log.info("true_event", level="error", event="false_event")
    told = json.loads(lines.getvalue())
    assert (told["level"], told["event"]) == ("info", "true_event")


def test_events_below_the_level_are_not_written(written: SetUp) -> None:
    lines = written(level="warning")
    log.info("quiet")
    log.debug("quieter")
    log.warning("loud")
    assert [line.split()[2] for line in lines.getvalue().splitlines()] == ["loud"]


@pytest.mark.parametrize("name", sorted(SECRET_WORDS | {"token_hash", "new_seed", "stock_top"}))
def test_a_field_named_for_a_secret_raises_under_test(written: SetUp, name: str) -> None:
    lines = written(strict=True)
    with pytest.raises(SecretInLog, match=name):
        log.info("leak", **{name: "KS"})
    assert lines.getvalue() == ""


def test_a_server_withholds_a_secret_and_says_so(written: SetUp) -> None:
    lines = written(as_json=True)
    log.info("leak", token=TOKEN, seed="00", player="p1")
    told = json.loads(lines.getvalue())
    assert told["withheld"] == "seed,token"
    assert told["player"] == "p1"
    assert "token" not in told
    assert TOKEN not in lines.getvalue()


def test_a_token_is_redacted_in_any_text(written: SetUp) -> None:
    lines = written()
    log.info("odd", client=f"bot {TOKEN.upper()}")
    log.error("worse", fault=ValueError(f"no such key {TOKEN}"))
    logging.getLogger("redis").warning("sent %s", TOKEN)
    assert "0123456789abcdef" not in lines.getvalue().lower()
    assert lines.getvalue().count("<hex>") == 3


def test_long_text_is_cut_off(written: SetUp) -> None:
    lines = written(as_json=True)
    log.info("long", text="x" * 10_000)
    assert json.loads(lines.getvalue())["text"] == "x" * LONGEST_TEXT + "..."


def test_a_fault_says_where_in_one_line(written: SetUp) -> None:
    lines = written(as_json=True)
    try:
        raise LookupError("nothing there")
    except LookupError as fault:
        log.error("server_fault", fault=fault, command="move")
    told = json.loads(lines.getvalue())
    assert told["level"] == "error"
    assert told["command"] == "move"
    assert re.fullmatch(
        r"LookupError: nothing there at test_logs\.py:\d+:test_a_fault_says_where_in_one_line",
        told["fault"],
    )


def test_libraries_may_warn_but_not_chatter(written: SetUp) -> None:
    lines = written(as_json=True, level="debug")
    logging.getLogger("websockets.server").info("connection open")
    logging.getLogger("websockets.server").error("opening handshake failed")
    told = json.loads(lines.getvalue())
    assert told["event"] == "websockets.server"
    assert told["text"] == "opening handshake failed"

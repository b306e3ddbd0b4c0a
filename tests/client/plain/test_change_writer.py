"""Events of a table are written at once, standings at most every few seconds."""

import asyncio
from collections.abc import Callable

import pytest

from kit.plain_sessions import RecordedOutput
from kit.session_states import CAP, START, standings, state_after
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.session.moments import LAST_MINUTE


async def test_the_first_state_is_written_in_full_and_then_only_changes() -> None:
    output = RecordedOutput()
    writer = ChangeWriter(output, lambda: START + 10_000)
    writer.show(state_after())
    assert output.lines[0] == "table mint-otter-42: canfield, 10 minutes, 16 seats, private"
    output.lines.clear()
    writer.show(state_after(standings("a2 y1 =r1")))
    assert output.lines == ["news: ana takes the lead with 2"]
    writer.pause()


async def test_a_paused_writer_drops_what_happens_and_goes_on_from_there() -> None:
    output = RecordedOutput()
    writer = ChangeWriter(output, lambda: START + 10_000)
    writer.show(state_after())
    output.lines.clear()
    writer.pause()
    later = state_after(standings("a2 y1 =r1:stuck"))
    writer.show(later)
    writer.resume()
    writer.show(later)
    assert not any("stuck" in line for line in output.lines)
    writer.pause()


async def test_the_last_minute_has_a_line_when_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delays: list[tuple[float, Callable[[], None]]] = []

    def call_later(delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        delays.append((delay, callback))
        return asyncio.TimerHandle(0, callback, (), asyncio.get_running_loop())

    output = RecordedOutput()
    writer = ChangeWriter(output, lambda: START + 10_000)
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", call_later)
    writer.show(state_after())
    ((delay, write),) = delays
    assert delay == (CAP - LAST_MINUTE - 10_000) / 1000
    output.lines.clear()
    write()
    assert output.lines == ["news: the last minute"]
    writer.pause()

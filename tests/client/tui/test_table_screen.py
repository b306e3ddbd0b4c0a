"""The base of the screens at a table: the connection in the title, and leaving."""

from dataclasses import replace

import pytest

from kit.session_states import (
    CODE,
    START,
    outcome,
    snapshot,
    standings,
    state_after,
    table,
)
from kit.table_screens import table_player
from saratoga_client.net.connection import LinkState
from saratoga_client.session.feed import Tone, with_line
from saratoga_client.tui.pages.table_news import HOST_AWAY
from saratoga_protocol import events

GATHERING = state_after(first=snapshot(shown=table(phase="gathering")))


async def test_the_player_is_asked_before_the_seat_is_given_up() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("q")
        assert at_table.rows[-2].strip() == f"Leave {CODE} and give up your seat? (y/n)"
        await at_table.press("n")
        assert at_table.rows[-2].strip() == "Cancelled."
        assert at_table.seat.asked == []
        await at_table.press("q", "y")
        assert at_table.seat.asked == ["leave"]


async def test_the_title_shows_the_state_of_the_connection() -> None:
    async with table_player(GATHERING, size=(120, 40)) as at_table:
        at_table.seat.change_to(replace(GATHERING, round_trip_ms=42))
        await at_table.settled()
        assert at_table.rows[0].rstrip().endswith("● live 42 ms")
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.settled()
        assert at_table.rows[0].rstrip().endswith("○ reconnecting")


LATER = f"{CODE}/2"
SCREENS = {
    "gathering": state_after(first=snapshot(shown=table(phase="gathering", race=LATER))),
    "countdown": state_after(first=snapshot(shown=table(phase="countdown", race=LATER))),
    "race": state_after(standings("a9 y7 r1")),
    "watching": state_after(first=snapshot("a9 r7", shown=table("ar", host="a"))),
    "results": state_after(
        events.RaceOver(outcome=outcome("a9:won y7:stuck")),
        events.TableChanged(table=table("ya", phase="over", version=7), now=START),
    ),
}
LIE = "Race mint-otter-42/1: the record is not verified: the seed and the nonces make another deal."


@pytest.mark.parametrize("screen", SCREENS)
async def test_an_alarm_is_on_every_screen_at_80x24(screen: str) -> None:
    calm = SCREENS[screen]
    feed = with_line(calm.feed, 0, LIE, Tone.ALARM)
    async with table_player(calm) as at_table:
        before = at_table.rows
        at_table.seat.change_to(replace(calm, alarms=(LIE,), feed=feed))
        await at_table.settled()
        after = at_table.rows
        assert "ALARM" in after[0]
        assert "the record is not verified" in after[-2], "one line of the message"
        assert after[-3] == before[-3], "and only one line"
        words = " ".join(at_table.text.replace("│", " ").split())
        assert "the record is not" in words.replace(after[-2].strip(), "")
        for row in before:
            if "ana" in row or "Zoë" in row or "╭" in row:
                assert row[:50] in [row[:50] for row in after], "no standing and no card is covered"


async def test_an_alarm_is_said_after_the_open_question() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("q")
        at_table.seat.change_to(replace(GATHERING, alarms=(LIE,)))
        await at_table.settled()
        assert "Leave" in at_table.rows[-2]
        await at_table.press("n")
        at_table.seat.change_to(replace(GATHERING, alarms=(LIE,), round_trip_ms=9))
        await at_table.settled()
        assert "the record is not verified" in at_table.rows[-2]


async def test_the_theme_key_changes_every_colour_and_no_text() -> None:
    async with table_player(GATHERING) as at_table:
        before = at_table.cells
        await at_table.press("t")
        after = at_table.cells
        assert [[text for text, _ in row] for row in before[:-2]] == [
            [text for text, _ in row] for row in after[:-2]
        ]
        assert all(was != now for was, now in zip(before[:-2], after[:-2], strict=True))


@pytest.mark.parametrize("phase", ["gathering", "over"])
async def test_a_host_between_races_is_warned_by_a_message_and_the_bell_until_the_next_key(
    monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    first = state_after(first=snapshot(shown=table("ya", phase=phase)))
    async with table_player(first) as at_table:
        bells: list[int] = []
        monkeypatch.setattr(at_table.app, "bell", lambda: bells.append(1))
        resting = at_table.rows[-2]
        await at_table.press("q")
        away = replace(first, idle_left=60)
        for state in (away, replace(away, announcement="Tea is ready.")):
            at_table.seat.change_to(state)
            await at_table.settled()
            assert HOST_AWAY in " ".join(at_table.text.split())
        assert len(bells) == 1
        at_table.seat.change_to(first)
        await at_table.settled()
        assert at_table.rows[-2] == resting
        at_table.seat.change_to(away)
        await at_table.press("y")
        assert at_table.seat.asked == [], "the key answers no question under the warning"

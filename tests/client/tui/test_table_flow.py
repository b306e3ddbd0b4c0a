"""A table's screens follow its state, also below other screens, and leaving ends all tasks."""

import dataclasses

import pytest
from msgspec.structs import replace

from kit.session_states import (
    CODE,
    START,
    board,
    outcome,
    player,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from kit.table_screens import Faults, TablePlayer, table_player
from saratoga_client.local import paths
from saratoga_client.local.settings import Settings, remember
from saratoga_client.local.terminal import Capabilities, Colours
from saratoga_client.net.connection import LinkState
from saratoga_client.problems import Exit, Problem
from saratoga_client.sanitised import UNSEEN
from saratoga_client.session.feed import Tone, with_line
from saratoga_client.session.state import SessionState
from saratoga_client.tui.flows import appearance_of
from saratoga_client.tui.pages.table_news import HOST_AWAY
from saratoga_client.tui.screens.countdown import CountdownScreen
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.screens.results import ResultsScreen
from saratoga_client.tui.screens.watching import WatchingScreen
from saratoga_protocol import events

GATHERING = state_after(first=snapshot(shown=table(phase="gathering")))
SAID = events.Announcement(text="The server restarts at ten.")
DEALT = events.BoardChanged(board=board(), start_at=START, deadline=START + 600_000, now=START)


def changed(phase: str, version: int, **more: object) -> events.TableChanged:
    shown = replace(table(phase=phase, version=version), **more)
    return events.TableChanged(table=shown, now=START)


def top(at_table: TablePlayer) -> type:
    return type(at_table.app.screen_stack[-1])


async def test_the_screens_follow_the_table_from_gathering_to_gathering() -> None:
    async with table_player(GATHERING) as at_table:
        assert top(at_table) is GatheringScreen
        await at_table.receive(changed("countdown", 2))
        assert top(at_table) is CountdownScreen
        # the deal may arrive after the event that the race has started
        await at_table.receive(changed("running", 3))
        assert top(at_table) is CountdownScreen
        await at_table.receive(DEALT)
        assert top(at_table) is RaceScreen
        await at_table.receive(events.RaceOver(outcome=outcome("y9 a3 r1")))
        await at_table.receive(changed("over", 4))
        assert top(at_table) is ResultsScreen
        await at_table.receive(changed("gathering", 5, race="mint-otter-42/2"))
        assert top(at_table) is GatheringScreen
        assert len(at_table.app.screen_stack) == 3, "the program's own, the waiting, the table's"


async def test_a_race_takes_the_help_away_and_results_do_not() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("?")
        assert top(at_table) is HelpScreen
        await at_table.receive(changed("countdown", 2))
        assert top(at_table) is CountdownScreen
        await at_table.receive(changed("running", 3), DEALT)
        await at_table.press("?")
        await at_table.receive(events.RaceOver(outcome=outcome("y9 a3 r1")), changed("over", 4))
        assert top(at_table) is HelpScreen
        await at_table.press("?")
        await at_table.settled()
        assert top(at_table) is ResultsScreen


async def test_a_player_without_a_board_in_a_running_race_watches() -> None:
    first = state_after(first=snapshot("a1 r1", shown=table("ar", host="a")))
    async with table_player(first) as at_table:
        assert top(at_table) is WatchingScreen


async def test_a_voided_countdown_goes_back_to_the_gathering_and_says_why() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.receive(changed("countdown", 2))
        await at_table.receive(changed("gathering", 3, notice="raj has left: no race this time."))
        assert top(at_table) is GatheringScreen
        assert "raj has left: no race this time." in at_table.rows[-2]


async def test_a_new_host_has_the_host_s_keys() -> None:
    first = state_after(first=snapshot(shown=table(phase="gathering", host="a")))
    async with table_player(first) as at_table:
        assert "s start" not in at_table.rows[-1]
        await at_table.receive(changed("gathering", 2, host=player("y"), notice="ana has left."))
        assert "s start" in at_table.rows[-1]


async def test_a_kicked_player_gets_the_reason_and_the_screens_close() -> None:
    async with table_player(GATHERING) as at_table:
        at_table.seat.lose(Problem("The host has kicked you from the table.", "", Exit.REFUSED))
        await at_table.settled()
        assert str(at_table.app.problem) == "The host has kicked you from the table."
        assert not at_table.app.is_running


async def test_leaving_asks_once_and_then_gives_the_seat_up() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("q")
        assert "Leave mint-otter-42 and give up your seat? (y/n)" in at_table.text
        await at_table.press("escape", "y")
        assert at_table.seat.asked == []
        await at_table.press("q", "y")
        await at_table.settled()
        assert at_table.seat.asked == ["leave"]
        assert at_table.app.problem is None


async def test_the_program_keeps_the_alarms_of_a_table_that_is_left() -> None:
    async with table_player(GATHERING) as at_table:
        at_table.seat.change_to(dataclasses.replace(GATHERING, alarms=("Race 1: gone.",)))
        await at_table.press("q", "y")
        await at_table.settled()
        assert at_table.app.alarms == ["Race 1: gone."]


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_refusal_of_the_server_leaves_the_screen_as_it_is(refuses: bool) -> None:
    seats = [seat("y", ready=True), seat("a", ready=True)]
    first = state_after(first=snapshot(shown=table(phase="gathering", seats=seats)))
    async with table_player(first) as at_table:
        at_table.seat.refuses = refuses
        await at_table.press("s")
        assert ("The server refuses this." in at_table.text) is refuses
        assert top(at_table) is GatheringScreen


async def test_the_invitation_follows_the_settings_when_they_change() -> None:
    async with table_player(GATHERING) as at_table:
        assert "Race me at patience: Canfield, 10 minutes" in at_table.text
        settings = replace(GATHERING.table.settings, game="caprice", cap=0)
        shown = replace(GATHERING.table, settings=settings)
        view = dataclasses.replace(GATHERING.table_view, table=shown)
        at_table.seat.change_to(dataclasses.replace(GATHERING, table_view=view))
        await at_table.settled()
        assert "Race me at patience: Caprice, no time limit" in at_table.text
        assert "Race me at patience: Canfield" not in at_table.text


async def test_the_host_hears_and_reads_who_has_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    bells: list[bool] = []
    async with table_player(GATHERING) as at_table:
        monkeypatch.setattr(at_table.app, "bell", lambda: bells.append(True))
        seats = [*GATHERING.table.seats, seat("m"), seat("o")]
        await at_table.receive(changed("gathering", 2, seats=seats))
        assert "mei and Otto [bot] have joined." in at_table.rows[-2]
        await at_table.receive(changed("gathering", 3, seats=seats[:-1]))
        await at_table.receive(changed("countdown", 4, seats=seats))
        assert bells == [True]


async def test_y_copies_the_invitation_with_the_present_settings() -> None:
    settings = replace(GATHERING.table.settings, game="golf\nrm -rf ~\x1b[2J")
    view = dataclasses.replace(
        GATHERING.table_view, table=replace(GATHERING.table, settings=settings)
    )
    async with table_player(dataclasses.replace(GATHERING, table_view=view)) as at_table:
        await at_table.press("y")
        assert not UNSEEN.search(at_table.app.clipboard.replace("\n", ""))
        assert "\nrm" not in at_table.app.clipboard
    async with table_player(GATHERING) as at_table:
        await at_table.press("y")
        copied = at_table.app.clipboard
        assert copied == "\n".join(at_table.flow.invitation_lines)
        assert copied.endswith("saratoga join ws://192.168.1.7:7470/mint-otter-42")


async def test_a_fault_in_drawing_does_not_end_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed_badly(screen: GatheringScreen, state: SessionState) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Faults, "emit", lambda handler, record: None)
    async with table_player(GATHERING) as at_table:
        with monkeypatch.context() as fault:
            fault.setattr(GatheringScreen, "changed", changed_badly)
            await at_table.receive(changed("gathering", 2, notice="ana has left."))
        await at_table.receive(changed("gathering", 3, notice="raj has left."))
        assert "raj has left." in at_table.rows[-2]


async def test_a_race_that_is_voided_while_the_help_closes_opens_no_race(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with table_player(GATHERING) as at_table:
        pop_screen = at_table.app.pop_screen

        async def void_meanwhile() -> None:
            await pop_screen()
            at_table.seat.change_to(GATHERING)

        await at_table.press("?")
        monkeypatch.setattr(at_table.app, "pop_screen", void_meanwhile)
        at_table.seat.change_to(state_after())
        await at_table.settled()
        assert top(at_table) is GatheringScreen


async def test_a_reader_is_told_the_table_s_news_and_stays_on_the_screen() -> None:
    async with table_player(state_after()) as at_table:
        await at_table.press("?")
        await at_table.receive(events.RaceOver(outcome=outcome("y9 a3 r1")), changed("over", 4))
        assert top(at_table) is HelpScreen
        assert "The race is over. You finished 1st of 3" in at_table.text
        await at_table.receive(changed("gathering", 5, race="mint-otter-42/2"))
        assert "The table is open for the next race: q goes there." in at_table.text
        seats = [seat("y"), seat("a", ready=True), seat("r"), seat("m")]
        await at_table.receive(changed("gathering", 6, race="mint-otter-42/2", seats=seats))
        assert "ana is ready. mei sat down. 1 of 4 ready for the next race." in at_table.text
        assert top(at_table) is HelpScreen
        await at_table.press("q")
        assert top(at_table) is GatheringScreen


@pytest.mark.parametrize(
    "first",
    [
        GATHERING,
        state_after(first=snapshot(shown=table(phase="countdown"))),
        state_after(first=snapshot("a1 r1", shown=table("ar", host="a"))),
        state_after(),
        state_after(events.RaceOver(outcome=outcome("y9 a3 r1")), changed("over", 4)),
    ],
    ids=["gathering", "countdown", "watching", "racing", "results"],
)
async def test_every_screen_shows_an_announcement_once(first: SessionState) -> None:
    async with table_player(first) as at_table:
        await at_table.receive(SAID)
        assert SAID.text in at_table.rows[-2]
        at_table.screen.say("")
        at_table.seat.change_to(dataclasses.replace(at_table.flow.state, round_trip_ms=7))
        await at_table.settled()
        assert SAID.text not in at_table.text


async def test_an_announcement_waits_for_the_end_of_a_question_and_of_an_idle_warning() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("q")
        await at_table.receive(SAID)
        assert SAID.text not in at_table.text
        await at_table.press("escape")
        assert SAID.text in at_table.rows[-2]
        at_table.seat.change_to(dataclasses.replace(at_table.flow.state, idle_left=60))
        later = events.Announcement(text="Tea is ready.")
        await at_table.receive(later)
        assert later.text not in at_table.text
        at_table.seat.note_activity()
        await at_table.settled()
        assert later.text in at_table.rows[-2]


async def test_a_reader_and_a_watcher_have_no_announcement_of_a_restart_that_is_over() -> None:
    first = state_after(first=snapshot("a1 r1", shown=table("ar", host="a")))
    async with table_player(first) as at_table:
        resting = at_table.rows[-2]
        await at_table.press("?")
        await at_table.receive(SAID)
        assert SAID.text in at_table.rows[-2]
        await at_table.press("q")
        assert at_table.rows[-2] == resting
        await at_table.receive(events.Announcement(text="Now."))
        assert "Now." in at_table.rows[-2]
        at_table.seat.link(LinkState.RECONNECTING)
        at_table.seat.link(LinkState.CONNECTED)
        await at_table.settled()
        assert at_table.rows[-2] == resting


async def test_the_title_shows_the_state_of_the_connection() -> None:
    async with table_player(GATHERING, size=(120, 40)) as at_table:
        at_table.seat.change_to(dataclasses.replace(GATHERING, round_trip_ms=42))
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
        at_table.seat.change_to(dataclasses.replace(calm, alarms=(LIE,), feed=feed))
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
        at_table.seat.change_to(dataclasses.replace(GATHERING, alarms=(LIE,)))
        await at_table.settled()
        assert "Leave" in at_table.rows[-2]
        await at_table.press("n")
        at_table.seat.change_to(dataclasses.replace(GATHERING, alarms=(LIE,), round_trip_ms=9))
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
        away = dataclasses.replace(first, idle_left=60)
        for state in (away, dataclasses.replace(away, announcement="Tea is ready.")):
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


def terminal(*, unicode: bool) -> Capabilities:
    return Capabilities(
        is_terminal=True,
        term="xterm",
        redraws=True,
        colours=Colours.NONE,
        unicode=unicode,
        columns=80,
        rows=24,
    )


@pytest.mark.parametrize(
    ("chosen", "unicode", "is_ascii"),
    [
        (None, True, False),
        (None, False, True),
        (True, True, True),
        (False, False, False),
    ],
)
def test_the_terminal_decides_about_ascii_unless_the_player_does(
    chosen: bool | None, unicode: bool, is_ascii: bool
) -> None:
    assert appearance_of(Settings(ascii=chosen), terminal(unicode=unicode)).ascii is is_ascii


def test_the_screen_looks_as_the_settings_say() -> None:
    settings = Settings(theme="paper", background=False, quick=True, suits={"caprice": "two"})
    seen = appearance_of(settings, terminal(unicode=True))
    assert (seen.theme, seen.background, seen.quick) == ("paper", False, True)
    assert (seen.suits, seen.colours) == ({"caprice": "two"}, Colours.NONE)


def test_a_choice_that_cannot_be_saved_ends_nothing() -> None:
    path = paths.state_folder() / "last.json"
    path.mkdir(parents=True)
    remember(theme="paper")
    assert list(path.iterdir()) == []

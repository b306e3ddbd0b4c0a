"""A table's screens follow its state, also below other screens, and leaving ends all tasks."""

import dataclasses

import pytest
from msgspec.structs import replace

from kit.screens import Faults, TablePlayer, table_player
from kit.session_states import CODE, START, outcome, snapshot, standings, state_after, table
from saratoga_client.local import paths
from saratoga_client.local.settings import Settings, remember
from saratoga_client.local.terminal import Capabilities, Colours
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.state import SessionState
from saratoga_client.tui.app import appearance_of
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_protocol import events
from saratoga_protocol.visible_text import UNSEEN

GATHERING = state_after(first=snapshot(shown=table(phase="gathering")))


def changed(phase: str, version: int, **more: object) -> events.TableChanged:
    shown = replace(table(phase=phase, version=version), **more)
    return events.TableChanged(table=shown, now=START)


def top(at_table: TablePlayer) -> type:
    return type(at_table.app.screen_stack[-1])


async def test_a_kicked_player_gets_the_reason_and_the_screens_close() -> None:
    async with table_player(GATHERING) as at_table:
        at_table.seat.lose(Problem("The host has kicked you from the table.", "", Exit.REFUSED))
        await at_table.settled()
        assert str(at_table.app.problem) == "The host has kicked you from the table."
        assert not at_table.app.is_running


async def test_the_program_keeps_the_alarms_of_a_table_that_is_left() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.change_to(dataclasses.replace(GATHERING, alarms=("Race 1: gone.",)))
        await at_table.press("q", "y")
        assert at_table.app.alarms == ["Race 1: gone."]


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
        assert copied == "\n".join(at_table.flow.inviter.lines(at_table.flow.state.table))
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
        await at_table.change_to(state_after())
        assert top(at_table) is GatheringScreen


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
    async with table_player(calm) as at_table:
        before = at_table.rows
        await at_table.change_to(dataclasses.replace(calm, alarms=(LIE,)))
        after = at_table.rows
        assert "ALARM" in after[0]
        assert "the record is not verified" in after[-2], "one line of the message"
        # beside the chart of a watcher stands a panel, whose last row has the news
        left = [row[:33] for row in after[:-2]] if screen == "watching" else after[:-2]
        assert screen in ("watching", "gathering") or after[-3] == before[-3], "one line"
        assert "the record is not" in " ".join(" ".join(left).split())
        for row in before:
            if "ana" in row or "Zoë" in row or (screen == "race" and "╭" in row):
                assert row[:50] in [row[:50] for row in after], "no standing and no card is covered"


async def test_the_theme_key_changes_every_colour_and_no_text() -> None:
    async with table_player(GATHERING) as at_table:
        before = at_table.cells
        await at_table.press("t")
        after = at_table.cells
        assert [[text for text, _ in row] for row in before[:-2]] == [
            [text for text, _ in row] for row in after[:-2]
        ]
        assert all(was != now for was, now in zip(before[:-2], after[:-2], strict=True))


def terminal(*, unicode: bool) -> Capabilities:
    return Capabilities(
        is_terminal=True,
        term="xterm",
        why_plain="",
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

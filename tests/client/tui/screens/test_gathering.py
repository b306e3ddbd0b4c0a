"""The screen of a table before a race: the command that each key sends."""

import asyncio
import dataclasses

import pytest
from msgspec.structs import replace

from kit.session_states import CODE, START, in_match, player, seat, snapshot, state_after, table
from kit.table_screens import REFUSAL, table_player
from saratoga_client.net.link_state import LinkState
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.state import SessionState, link_changed
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_client.tui.table_screen import LONG
from saratoga_protocol import events
from saratoga_rules.games import GAMES


def gathering(
    letters: str = "yao", host: str = "y", ready: str = "", game: str = "canfield"
) -> SessionState:
    seats = [seat(letter, ready=letter in ready) for letter in letters]
    return state_after(
        first=snapshot(shown=table(phase="gathering", host=host, seats=seats, game=game))
    )


async def test_r_makes_a_player_ready_and_not_ready_again() -> None:
    async with table_player(gathering(host="a")) as at_table:
        assert isinstance(at_table.screen, GatheringScreen)
        assert "Press r when you are ready; the host starts the race." in at_table.text
        await at_table.press("r")
        at_table.seat.change_to(gathering(host="a", ready="y"))
        await at_table.settled()
        assert "r not ready" in at_table.rows[-1]
        await at_table.press("r")
        assert at_table.seat.asked == ["ready", "not ready"]


@pytest.mark.parametrize("key", ["s", "g", "c", "m", "p", "+", "-", "l", "k", "a"])
async def test_keys_of_the_host_tell_other_players_that_only_the_host_may_use_them(
    key: str,
) -> None:
    async with table_player(gathering(host="a")) as at_table:
        await at_table.press(key)
        assert "Only the host can do that." in at_table.text
        assert at_table.seat.asked == []


async def test_a_player_who_is_not_host_scrolls_a_cut_page_by_arrows() -> None:
    seats = "yabcdefghijklmno"
    async with table_player(gathering(seats, host="a"), size=(60, 20)) as at_table:
        shown = at_table.text
        await at_table.press("down")
        assert at_table.text != shown
        assert "Only the host" not in at_table.text


@pytest.mark.parametrize(
    ("key", "asked"),
    [("c", "cap 20"), ("p", "public True"), ("-", "seats 15"), ("+", "seats 16"), ("m", "races 3")],
)
async def test_the_host_changes_each_setting_with_one_key(key: str, asked: str) -> None:
    async with table_player(gathering()) as at_table:
        await at_table.press(key)
        assert at_table.seat.asked == [asked]


def in_a_match(*races: str, length: int = 3) -> SessionState:
    number = len(races) + 1
    shown = in_match(table(phase="gathering", race=f"{CODE}/{number}"), *races, length=length)
    return state_after(first=snapshot(shown=shown))


@pytest.mark.parametrize(("length", "next_length"), [(3, 5), (5, 1)])
async def test_m_chooses_the_length_of_a_match(length: int, next_length: int) -> None:
    async with table_player(in_a_match(length=length)) as at_table:
        assert f"m  match, race 1 of {length}" in at_table.text
        assert f"RACE 1 OF {length}" in at_table.text
        await at_table.press("m")
        assert at_table.seat.asked == [f"races {next_length}"]


async def test_m_ends_a_match_that_has_begun_after_one_question() -> None:
    async with table_player(in_a_match("a9 y5")) as at_table:
        assert "race 2 of 3" in at_table.rows[0]
        await at_table.press("m", "n")
        assert at_table.seat.asked == []
        await at_table.press("m")
        assert "End the match after 1 of 3 races, without a champion? (y/n)" in at_table.text
        await at_table.press("y")
        assert at_table.seat.asked == ["races 1"]


@pytest.mark.parametrize("game", GAMES)
async def test_g_goes_to_the_next_game_after_any_game(game: str) -> None:
    async with table_player(gathering(game=game)) as at_table:
        await at_table.press("g")
        names = list(GAMES)
        assert at_table.seat.asked == [f"game {names[(names.index(game) + 1) % len(names)]}"]


async def test_a_host_can_change_from_an_unknown_game_to_a_known_one() -> None:
    async with table_player(gathering(game="golf")) as at_table:
        await at_table.press("?")
        assert "This program does not know that game" in at_table.rows[-2]
        await at_table.press("g")
        assert at_table.seat.asked == [f"game {next(iter(GAMES))}"]


async def test_a_host_who_is_not_ready_must_press_r_before_s() -> None:
    async with table_player(gathering()) as at_table:
        await at_table.press("s")
        assert "Press r first: the host races too." in at_table.text
        at_table.seat.change_to(gathering(ready="ya"))
        await at_table.press("s")
        assert at_table.seat.asked == ["start"]


async def test_a_start_waits_for_the_host_s_ready_mark_that_is_on_its_way() -> None:
    async with table_player(gathering(ready="a")) as at_table:
        await at_table.press("r", "s")
        assert "The race starts as soon as you are ready." in at_table.text
        at_table.seat.change_to(gathering(ready="ya"))
        await at_table.settled()
        assert at_table.seat.asked == ["ready", "start"]
        at_table.seat.change_to(gathering(ready="a"))
        await at_table.press("s")
        assert "Press r first: the host races too." in at_table.text


async def test_a_start_that_waits_asks_about_a_player_who_is_not_ready() -> None:
    async with table_player(gathering()) as at_table:
        await at_table.press("r", "s")
        at_table.seat.change_to(gathering(ready="y"))
        await at_table.settled()
        assert "s starts, any other key waits." in at_table.text
        await at_table.press("s")
        assert at_table.seat.asked == ["ready", "start"]


@pytest.mark.parametrize("key", ["f3", ""])
async def test_another_key_or_a_refused_mark_drops_the_start_that_waits(key: str) -> None:
    async with table_player(gathering(ready="a")) as at_table:
        answered = asyncio.Event()

        async def refused() -> None:
            await answered.wait()
            raise Problem(REFUSAL, "", Exit.REFUSED)

        at_table.seat.ready = refused  # type: ignore[method-assign]
        await at_table.press("r", "s")
        assert "The race starts as soon as you are ready." in at_table.text
        if key:
            await at_table.press(key)
        else:
            answered.set()
            await at_table.settled()
            assert REFUSAL in at_table.text
        at_table.seat.change_to(gathering(ready="ya"))
        await at_table.settled()
        assert at_table.seat.asked == []


async def test_the_host_kicks_a_player_after_one_question() -> None:
    async with table_player(gathering()) as at_table:
        await at_table.press("k")
        assert "k kicks ana" in at_table.text
        await at_table.press("down", "k")
        assert "Kick Otto [bot] for good? (y/n)" in at_table.text
        await at_table.press("x")
        assert at_table.seat.asked == []
        await at_table.press("k", "k", "y")
        assert at_table.seat.asked == [f"kick {player('a')}"]


async def test_the_host_locks_the_table_and_unlocks_it() -> None:
    async with table_player(gathering()) as at_table:
        assert "l  open to newcomers" in at_table.text
        await at_table.press("l")
        locked = replace(gathering().table, locked=True, version=9)
        await at_table.receive(events.TableChanged(table=locked, now=START))
        assert "l  locked to newcomers" in at_table.text
        await at_table.press("l")
        assert at_table.seat.asked == ["lock", "unlock"]


async def test_the_host_allows_a_player_who_voided_a_countdown_after_a_question() -> None:
    async with table_player(gathering()) as at_table:
        await at_table.press("a")
        assert "Nobody waits for your permission" in at_table.text
        seats = [seat("y"), seat("a", voids=2, blocked=True)]
        blocked = replace(gathering().table, seats=seats, version=9)
        await at_table.receive(events.TableChanged(table=blocked, now=START))
        assert "blocked" in at_table.text
        assert "a allow ana" in at_table.rows[-1]
        await at_table.press("a")
        assert "ana has voided 2 countdowns. Allow ana to get ready again? (y/n)" in at_table.text
        await at_table.press("y")
        assert at_table.seat.asked == [f"allow {player('a')}"]


async def test_the_keys_of_players_do_nothing_for_a_watcher() -> None:
    async with table_player(gathering("ao", host="a")) as at_table:
        assert "You are watching this table" in at_table.text
        await at_table.press("r", "s")
        assert at_table.seat.asked == []


async def test_a_notice_of_the_table_is_shown_when_it_arrives() -> None:
    async with table_player(gathering(host="a")) as at_table:
        noticed = replace(
            table(phase="gathering", letters="yo", version=2),
            notice="ana is gone: you are host now.",
        )
        changed = events.TableChanged(table=noticed, now=at_table.seat.time)
        await at_table.receive(changed)
        assert "ana is gone: you are host now." in at_table.rows[-2]
        assert "s start" in at_table.rows[-1]


async def test_a_refusal_of_the_server_is_shown() -> None:
    async with table_player(gathering()) as at_table:
        at_table.seat.refuses = True
        await at_table.press("r")
        await at_table.settled()
        assert REFUSAL in at_table.rows[-2]


async def test_an_alarm_about_the_race_before_is_said_and_stays_on_the_page() -> None:
    async with table_player(gathering(host="a")) as at_table:
        alarm = "Race 2: gone."
        at_table.seat.change_to(dataclasses.replace(gathering(host="a"), alarms=(alarm,)))
        await at_table.settled()
        assert at_table.text.count(alarm) == 2, "on the page and on the message line"
        at_table.seat.change_to(dataclasses.replace(gathering(), alarms=(alarm,)))
        await at_table.settled()
        assert alarm in at_table.text


async def test_a_host_is_asked_once_before_a_start_without_a_player_who_is_not_ready() -> None:
    async with table_player(gathering(ready="yo")) as at_table:
        await at_table.press("s")
        question = "ana isn't ready. Start without ana? s starts, any other key waits."
        assert question in at_table.text
        assert at_table.seat.asked == []
        await at_table.press("x", "s", "s")
        assert at_table.seat.asked == ["start"]


async def test_the_question_before_the_start_follows_the_players_who_get_ready() -> None:
    async with table_player(gathering("yam", ready="y")) as at_table:
        await at_table.press("s")
        assert "ana and mei aren't ready. Start without them?" in at_table.text
        at_table.seat.change_to(gathering("yam", ready="ym"))
        await at_table.settled()
        assert "ana isn't ready. Start without ana?" in at_table.text
        at_table.seat.change_to(gathering("yam", ready="yam"))
        await at_table.settled()
        assert "Everybody is ready: press s to start." in at_table.text
        await at_table.press("s")
        assert at_table.seat.asked == ["start"]


async def test_another_question_is_not_replaced_by_the_one_about_the_start() -> None:
    async with table_player(gathering(ready="y")) as at_table:
        await at_table.press("down", "s", "k")
        assert "Kick ana for good?" in at_table.text
        at_table.seat.change_to(gathering(ready="yao"))
        await at_table.settled()
        assert "Kick ana for good?" in at_table.text


@pytest.mark.parametrize(
    ("key", "asked", "waits"),
    [
        ("r", "not ready", "Your ready mark goes as soon as the connection is back."),
        ("c", "cap 20", "The change waits for the connection."),
    ],
)
async def test_what_is_asked_without_a_connection_waits_for_it(
    key: str, asked: str, waits: str
) -> None:
    async with table_player(gathering(ready="y")) as at_table:
        at_table.seat.link(LinkState.RECONNECTING)
        at_table.screen.tick()
        await at_table.press(key)
        assert at_table.rows[-2].strip() == waits
        assert at_table.seat.asked == [asked]
        at_table.seat.link(LinkState.CONNECTED)
        at_table.screen.tick()
        await at_table.settled()
        assert at_table.rows[-2].strip() == "Connected again."


async def test_getting_ready_without_a_connection_waits_for_it() -> None:
    async with table_player(gathering()) as at_table:
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.press("r")
        at_table.screen.tick()
        await at_table.settled()
        assert at_table.rows[-2].strip() == "You get ready as soon as the connection is back."
        assert at_table.seat.asked == ["ready"]


async def test_a_lost_connection_is_said_and_then_that_the_server_may_be_closed() -> None:
    async with table_player(in_a_match()) as at_table:
        at_table.seat.change_to(link_changed(in_a_match(), LinkState.RECONNECTING, START))
        at_table.screen.tick()
        await at_table.settled()
        assert "Connection lost; trying again." in at_table.rows[-2]
        assert "start" not in at_table.rows[-1]
        at_table.seat.time += LONG
        at_table.screen.tick()
        await at_table.settled()
        assert "may have been closed" in at_table.rows[-2]
        assert "q leave" in at_table.rows[-1]
        at_table.seat.change_to(in_a_match())
        at_table.screen.tick()
        await at_table.settled()
        assert "Connected again." in at_table.rows[-2]

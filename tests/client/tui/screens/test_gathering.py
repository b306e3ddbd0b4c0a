"""The screens of a table before a race: the command that each key sends."""

import asyncio

import pytest
from msgspec import structs
from msgspec.structs import replace

from kit.screen_cells import painted_text
from kit.session_states import (
    CODE,
    START,
    board,
    in_match,
    player,
    racer_of,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from kit.table_screens import REFUSAL, table_player
from saratoga_client.board_view.qr_code import qr_lines
from saratoga_client.net.link_state import LinkState
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.state import SessionState, link_changed
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.screens.countdown import CountdownScreen
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.tui.screens.invitation import InvitationScreen
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.screens.waiting import WaitingScreen
from saratoga_client.tui.screens.watching import WatchingScreen
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


async def test_the_seconds_go_by_and_the_fingerprint_is_readable() -> None:
    async with table_player(
        state_after(first=snapshot(shown=table(phase="countdown")))
    ) as at_table:
        assert isinstance(at_table.screen, CountdownScreen)
        at_table.seat.time = START - 4_200
        at_table.screen.tick()
        await at_table.settled()
        assert "starts in 5 s" in at_table.rows[0]
        assert "c0c0 c0c0 c0c0" in at_table.text
        at_table.seat.time = START - 800
        at_table.screen.tick()
        await at_table.settled()
        assert "starts in 1 s" in at_table.rows[0]
        assert "Get ready" in at_table.text


async def test_a_player_without_a_seat_watches() -> None:
    at_table_only = table("ar", phase="countdown", host="a")
    async with table_player(state_after(first=snapshot(shown=at_table_only))) as at_table:
        assert "You are watching this race." in at_table.text


async def test_a_player_who_was_not_ready_reads_that_the_race_starts_without_them() -> None:
    seats = [seat("y"), seat("a"), seat("r")]
    without_you = replace(
        table("yar", phase="countdown", seats=seats), racers=[racer_of("a"), racer_of("r")]
    )
    async with table_player(state_after(first=snapshot(shown=without_you))) as at_table:
        assert "You weren't ready, so this race started without you." in at_table.text


def call(ready: str = "") -> SessionState:
    """Return the state in the call; the players with these letters are ready."""
    seats = [seat(letter, ready=letter in ready) for letter in "yar"]
    called = replace(table("yar", phase="call", seats=seats), call_until=START - 3000)
    return state_after(first=snapshot(shown=called))


async def test_in_the_call_a_player_gets_ready_and_not_ready_by_r() -> None:
    async with table_player(call("a")) as at_table:
        assert "Press r now to be in it." in at_table.text
        assert "ana" in at_table.text.partition("READY")[2], "those who are ready so far"
        await at_table.press("r")
        at_table.seat.change_to(call("ay"))
        await at_table.settled()
        assert "r not ready" in at_table.rows[-1]
        await at_table.press("r")
        assert at_table.seat.asked == ["ready", "not ready"]


async def test_after_the_call_r_does_nothing_and_the_message_says_who_races() -> None:
    async with table_player(call("ar")) as at_table:
        fixed = replace(
            call("ar").table,
            phase="countdown",
            racers=[racer_of("a"), racer_of("r")],
            version=2,
        )
        await at_table.receive(events.TableChanged(table=fixed, now=START))
        assert "You weren't ready, so this race started without you." in at_table.text
        assert "RACERS" in at_table.text
        await at_table.press("r")
        assert at_table.seat.asked == []


async def test_a_watcher_cannot_get_ready_in_the_call() -> None:
    seats = [seat("a", ready=True)]
    called = table("a", phase="call", host="a", seats=seats)
    async with table_player(state_after(first=snapshot(shown=called))) as at_table:
        await at_table.press("r")
        assert at_table.seat.asked == []


SEATS = [seat("y"), seat("a")]
GATHERING = state_after(first=snapshot(shown=table(phase="gathering", host="a", seats=SEATS)))
LINK = "http://192.168.1.7:7470/mint-otter-42"


@pytest.mark.parametrize("key", ["o", "escape", "q", "enter"])
async def test_o_shows_the_link_as_text_and_as_a_code(key: str) -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("o")
        assert type(at_table.app.screen) is InvitationScreen
        assert LINK in at_table.text
        lines = qr_lines(LINK, on_dark=False)
        assert all(line.strip() in at_table.text for line in lines)
        await at_table.press(key)
        assert [type(each) for each in at_table.app.screen_stack[-1:]] == [GatheringScreen]
        assert at_table.seat.asked == []


async def test_an_address_of_this_machine_has_no_code_for_phones() -> None:
    async with table_player(GATHERING, inviter=Inviter(server="ws://127.0.0.1:7470")) as at_table:
        assert "o link" in at_table.text
        assert "QR code" not in at_table.text
        await at_table.press("o")
        link = "http://127.0.0.1:7470/mint-otter-42"
        assert f"Only on this machine: {link}" in at_table.text
        assert "A phone cannot open this address." in at_table.text
        assert qr_lines(link, on_dark=False)[3].strip() not in at_table.text


async def test_the_sentence_is_in_the_middle_safe_to_print_and_can_change() -> None:
    async def show(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    screen = WaitingScreen("Connecting")
    app = SaratogaApp(show)
    async with app.run_test(size=(80, 24)) as pilot:
        while app.screen is not screen:
            await pilot.pause()
        await pilot.pause()
        (row,) = [row for row, line in enumerate(painted_text(screen)) if "Connecting" in line]
        assert row in (11, 12)
        screen.say("Joining\x1b the table")
        await pilot.pause()
        lines = [line for line in painted_text(screen) if line]
        assert [line.strip() for line in lines] == ["Joining<U+001B> the table"]
        assert abs(len(lines[0]) - len(lines[0].lstrip()) - (80 - len(lines[0].strip())) // 2) <= 1


async def test_a_watcher_sees_standings_news_and_clock_but_no_board() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        assert isinstance(at_table.screen, WatchingScreen)
        await at_table.receive(standings("a20 r3:stuck"))
        assert "ana reached 20" in at_table.text
        assert "watching" in at_table.rows[0]
        assert at_table.rows[0].endswith("8:55 ")
        assert not set("╭╰░") & set(at_table.text)


async def test_a_key_shows_the_chart_in_place_of_the_news_and_back() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        await at_table.receive(standings("a20 r3:stuck"))
        await at_table.press("o")
        assert "BANKED OVER TIME" in at_table.rows[1]
        assert "+$50" in at_table.rows[2]
        assert at_table.rows[0].endswith("8:55 ")
        await at_table.press("o")
        assert "BANKED OVER TIME" not in at_table.text


async def test_a_host_who_does_not_race_can_end_the_race() -> None:
    shown = structs.replace(table("yar"), racers=[racer_of("a"), racer_of("r")])
    shown = structs.replace(shown, last_racer=player("a"), end_from=START)
    first = snapshot("a1 r1:stuck", shown=shown)
    async with table_player(state_after(first=first)) as at_table:
        assert "You have a seat for the next race." in " ".join(at_table.text.split())
        assert "not in this race" in at_table.rows[0]
        assert "watching" not in at_table.rows[0]
        assert "e end race" in at_table.rows[-1]
        await at_table.press("e", "y")
        assert at_table.seat.asked == ["end race"]


async def test_a_watcher_leaves_without_a_question() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        await at_table.press("q")
        assert not at_table.app.is_running
        assert at_table.seat.asked == []


RACING = state_after(first=snapshot("y1 a1 r1", board()))


@pytest.mark.parametrize("key", ["?", "escape", "q", "enter"])
async def test_the_help_opens_and_closes_and_its_keys_are_not_played(key: str) -> None:
    async with table_player(RACING) as at_table:
        await at_table.press("?")
        assert isinstance(at_table.app.screen, HelpScreen)
        assert "RULES OF CANFIELD" in at_table.text
        await at_table.press("space", "1", "x", key)
        assert [type(screen) for screen in at_table.app.screen_stack[-1:]] == [RaceScreen]
        assert at_table.seat.asked == []
        assert not at_table.screen.is_asking

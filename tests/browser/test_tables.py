"""A table on the page before its race: friends meet there; seats are taken over and lost."""

from contextlib import AsyncExitStack

from playwright.async_api import Page, expect

from kit.browser_pages import (
    DESKTOP,
    PHONE,
    Pages,
    check_accessible,
    look,
    page_url,
    serving_pages,
    take_screenshot,
)
from kit.page_player import get_ready, open_table, press, seat_of, sit_down, visit
from kit.players import Player, player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    JoinTable,
    Kick,
    LeaveTable,
    Start,
)
from saratoga_protocol.events import SeatLost, TableChanged


async def test_a_start_without_a_friend_who_is_not_ready_asks_first(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    async with player_at(page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await expect(page.get_by_role("status")).to_contain_text("Bert sat down.")
        await look(page, "table-host")
        # to start is to be ready too
        await press(page, "Start the race").click()
        question = page.get_by_role("dialog", name="Bert isn't ready. Start without Bert?")
        await question.wait_for()
        await look(page, "table-question")
        await press(page, "Wait").click()
        await bert.ready()
        await expect(page.locator(".seats .ready")).to_have_count(1)
        await press(page, "Start the race").click()
        await bert.reveal()
        await page.locator(".race .pile").first.wait_for()


async def test_the_host_locks_the_table_and_kicks_a_player(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    async with player_at(page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await press(page, "Kick Bert").click()
        question = page.get_by_role("dialog", name="Kick Bert for good?")
        await question.wait_for()
        await check_accessible(page)
        await question.get_by_role("button", name="Keep").click()
        await expect(seat_of(page, "Bert")).to_be_visible()

        await press(page, "Kick Bert").click()
        await press(page, "Kick").click()
        await expect(seat_of(page, "Bert")).to_have_count(0)
        assert "kicked" in (await bert.expect(SeatLost)).reason

    await page.get_by_text("Change the game and the table").click()
    await press(page, "Lock").click()
    await expect(press(page, "Unlock")).to_be_visible()
    guest = await pages.open(page_url(page_server, f"/{code}"))
    await expect(guest.get_by_text("Locked to newcomers: you can only watch.")).to_be_visible()
    await expect(guest.locator(".main")).to_have_text("Watch")
    await sit_down(guest, "Cleo")
    await expect(guest.get_by_role("alert")).to_contain_text("locked")
    await press(page, "Unlock").click()
    await expect(guest.get_by_text("you can only watch")).to_have_count(0)
    await expect(guest.locator(".main")).to_have_text("Take a seat")
    await press(guest, "Take a seat").click()
    await expect(seat_of(page, "Cleo")).to_be_visible()


async def test_a_host_adds_and_removes_bots_by_a_tap_and_races_them_by_another(
    pages: Pages,
) -> None:
    async with serving_pages("--bots") as server:
        page = await pages.open(page_url(server))
        await open_table(page)
        await press(page, "Even").click()
        await expect(page.locator(".seats .ready")).to_have_count(1)
        await press(page, "Strong").click()
        await expect(page.locator(".seats .is-bot")).to_have_count(2)
        await look(page, "table-bots")
        # by the key and the keyboard alone; no question is asked
        await page.locator("body").press("k")
        await page.keyboard.press("Enter")
        await expect(page.locator(".seats .is-bot")).to_have_count(1)
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.locator("body").press("+")
        await expect(press(page, "Weak")).to_be_focused()
        (bot,) = await page.locator(".seats b", has_text="strong bot").all_inner_texts()
        name = bot.split()[0]
        await press(page, f"Race {name}").click()
        await page.locator(".race .pile").first.wait_for()
        await pages.close()


async def test_the_host_hands_the_table_over_after_a_question(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    async with player_at(page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await expect(seat_of(page, "Bert")).to_be_visible()
        await page.locator("body").press("h")
        await expect(page.get_by_label("Host")).to_be_focused()
        await page.get_by_label("Host").select_option("Bert")
        question = page.get_by_role("dialog", name="Make Bert the host?")
        await question.get_by_role("button", name="Stay host").click()
        await expect(page.get_by_label("Host")).to_have_value("Mira (you)")
        await page.get_by_label("Host").select_option("Bert")
        await question.get_by_role("button", name="Make Bert host").click()
        await expect(page.get_by_role("heading", name="Bert's table")).to_be_visible()
        await expect(page.get_by_role("status")).to_contain_text("Bert")


async def test_reactions_are_said_to_the_table_by_a_tap_or_a_key(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    await expect(press(page, "nice!")).to_have_count(0)
    guest = await pages.open(page_url(page_server, f"/{code}"))
    await sit_down(guest, "Bert")
    said, heard = page.get_by_role("status"), guest.get_by_role("status")
    await expect(said).to_contain_text("Bert sat down.")
    await press(page, "again?").click()
    await expect(heard).to_have_text("Mira: again?")
    await expect(said).to_have_text("You: again?")
    await guest.locator("body").press("e")
    await check_accessible(guest)
    await guest.keyboard.press("3")
    await expect(said).to_have_text("Bert: nice!")
    while "One moment" not in await said.inner_text():
        await press(page, "nice!").click()


async def test_the_host_changes_the_race_and_everybody_gets_ready_again(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(own_page_server), DESKTOP)
    code = await open_table(page)
    async with player_at(own_page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await bert.ready()
        await expect(page.get_by_role("status")).to_contain_text("Bert is ready. 1 of 2 ready")
        # no key and no choice alone takes a ready mark away
        question = page.get_by_role("dialog", name="Change the race?")
        await page.locator("body").press("g")
        await expect(page.get_by_label("Game")).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(question).to_contain_text("Bert is ready, and must get ready again.")
        await press(page, "Keep it").click()
        await page.get_by_label("Game").select_option("Caprice")
        await expect(question).to_be_visible()
        await expect(page.locator(".seats .ready")).to_have_count(1)
        await press(page, "Change it").click()
        await expect(page.get_by_text("all players must get ready again")).to_be_visible()
        await expect(page.get_by_role("heading", name="Caprice")).to_be_visible()
        await expect(page.locator(".seats .ready")).to_have_count(0)
        await page.get_by_label("Match").select_option("match of 3 races")
        await expect(page.get_by_text("Race 1 of 3")).to_be_visible()

        for label, choice in (
            ("Time limit", "20 minutes"),
            ("Who can join", "everybody (public)"),
            ("Seats", "15 seats"),
        ):
            version = bert.table.version
            await page.get_by_label(label).select_option(choice)
            await changed_since(bert, version)
        settings = bert.table.settings
        assert (settings.game, settings.races) == ("caprice", 3)
        assert (settings.cap, settings.public, settings.seats) == (20, True, 15)
        # a public table has a time limit
        choices = page.get_by_label("Time limit").locator("option")
        assert "no time limit" not in await choices.all_inner_texts()


async def changed_since(player: Player, version: int) -> None:
    """Wait until a player's table has changed since a version."""
    while player.table.version == version:
        await player.expect(TableChanged, since=len(player.received.events))


async def test_a_guest_sits_down_by_the_link_and_corrects_a_name_that_is_taken(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(own_page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="lady-palk")).table.code
        page = await pages.open(page_url(own_page_server, f"/{code}"))
        await expect(page.get_by_role("heading", name="Anna wants to")).to_be_visible()
        await expect(page.get_by_label("What shall we call you?")).to_be_focused()
        await look(page, "name")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Give a name")
        await page.keyboard.type("Anna")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("is taken")
        await expect(page.get_by_label("What shall we call you?")).to_be_focused()
        await page.get_by_label("What shall we call you?").fill("Cleo")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Get ready; Anna starts the race.")).to_be_visible()
        await look(page, "table-guest")

        # the browser remembers the player, whose seat is kept
        again = await pages.open_tab(page, page_url(own_page_server, f"/{code}"))
        await expect(seat_of(again, "Cleo (you)")).to_be_visible()


async def test_who_only_watches_may_sit_down_later(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        page = await pages.open(page_url(page_server, f"/{code}"))
        await press(page, "I'd rather watch").click()
        watching = page.get_by_text("You are watching this table")
        await expect(watching).to_be_visible()
        await check_accessible(page)
        assert len(anna.table.seats) == 1
        # a tab that is loaded again goes on watching, until told to stop
        await page.reload()
        await expect(watching).to_be_visible()
        await press(page, "Stop watching").click()
        await page.wait_for_url(page_url(page_server))
        await page.goto(page_url(page_server, f"/{code}"))
        await press(page, "I'd rather watch").click()
        await expect(watching).to_be_visible()
        await press(page, "Take a seat").click()
        await sit_down(page, "Cleo")
        await expect(seat_of(page, "Cleo (you)")).to_be_visible()
        await press(page, "Leave the table").click()
        await page.get_by_role("dialog").get_by_role("button", name="Leave").click()
        await page.wait_for_url(page_url(page_server))
        await expect(press(page, "Cleo")).to_be_visible()


async def test_a_full_table_offers_to_watch_and_says_why(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(own_page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield", seats=1, public=True)).table.code
        page = await pages.open(page_url(own_page_server))
        await page.get_by_role("link", name="Canfield of Anna").click()
        await page.wait_for_url(f"**/{code}")
        reason = page.get_by_text("Every seat is taken: you can only watch.")
        await expect(reason).to_be_visible()
        await expect(page.locator(".main")).to_have_text("Watch")
        await expect(press(page, "Watch")).to_be_focused()
        await look(page, "name-full")
        await page.keyboard.press("Enter")
        await expect(press(page, "Take a seat")).to_have_class("button")
        await expect(reason).to_be_visible()
        await look(page, "table-full-watched")
        await anna.ask(ChangeSettings, table=code, seats=2)
        await expect(press(page, "Take a seat")).to_have_class("button main")
        await expect(reason).to_have_count(0)

        await anna.ask(ChangeSettings, table=code, seats=1)
        await expect(reason).to_be_visible()
        await anna.ready()
        await anna.ask(Start, table=code)
        await anna.reveal()
        await expect(press(page, "Sit in on the next race")).to_have_class("button")
        await expect(reason).to_be_visible()
        await look(page, "watch-full")


async def test_who_watches_a_table_goes_to_the_leaders_of_its_game_and_back(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="lafayette")).table.code
        page = await pages.open(page_url(page_server))
        await page.get_by_label("Code or link of the table").fill(code)
        await page.keyboard.press("Enter")
        await press(page, "I'd rather watch").click()
        await expect(press(page, "Stop watching")).to_be_visible()
        await anna.ask(ChangeSettings, table=code, game="klondike")
        await expect(page.get_by_role("heading", name="Klondike")).to_be_visible()
        await page.get_by_role("link", name="Leaders").click()
        await page.wait_for_url("**/leaderboards/klondike")
        await page.go_back()
        await expect(press(page, "Stop watching")).to_be_visible()

        # the home's link leads to the game that was looked at last
        await page.get_by_role("link", name="Saratoga").click()
        await expect(page.get_by_role("heading", name="Race your friends")).to_be_visible()
        await page.get_by_role("link", name="Leaders").click()
        await page.get_by_role("link", name="Caprice").click()
        await page.wait_for_url("**/leaderboards/caprice")
        await page.get_by_role("link", name="Saratoga").click()
        leaders = page.get_by_role("link", name="Leaders")
        await expect(leaders).to_have_attribute("href", "/leaderboards/caprice")

        await page.goto(page_url(page_server))
        await expect(leaders).to_have_attribute("href", "/leaderboards/canfield")


async def test_the_invitation_is_copied_over_plain_http(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), PHONE)
    code = await open_table(page)
    await page.get_by_text("Show a QR code").click()
    await expect(page.get_by_role("img", name="QR code of the link to this table")).to_be_visible()
    loaded = "() => [...document.images].every(image => image.complete && image.naturalWidth > 0)"
    await page.wait_for_function(loaded)
    await press(page, "Invite").click()
    await expect(page.get_by_role("heading", name="Invite friends")).to_be_in_viewport()
    await press(page, "Copy invitation").click()
    await expect(page.get_by_text("The invitation is on your clipboard.")).to_be_visible()
    await page.get_by_role("link", name="Saratoga").click()
    await page.get_by_label("Code or link of the table").focus()
    await page.keyboard.press("Control+V")
    pasted = await page.get_by_label("Code or link of the table").input_value()
    assert pasted.startswith("Race me at patience: Lafayette, 10 minutes")
    assert pasted.strip().endswith(page_url(page_server, f"/{code}"))


async def test_a_voided_countdown_is_told_and_the_host_allows_its_player_again(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), DESKTOP)
    code = await open_table(page)
    async with player_at(page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await bert.ready()
        await press(page, "Start the race").click()
        # Bert is ready, and never reveals the number
        await expect(page.get_by_text("Voided by the server.")).to_be_visible()
        await expect(page.get_by_text("Race 1 did not start: a racer's nonce")).to_be_visible()
        await expect(page.get_by_text("Race 2", exact=True)).to_be_visible()
        await expect(seat_of(page, "Bert")).to_contain_text("blocked")
        await look(page, "table-voided")
        await page.locator("body").press("a")
        question = page.get_by_role("dialog", name="Allow Bert to get ready again?")
        await expect(question).to_contain_text("Bert has voided 1 countdown.")
        await question.get_by_role("button", name="Allow").click()
        await expect(seat_of(page, "Bert")).to_contain_text("not ready")
        await bert.ready()
        await expect(seat_of(page, "Bert").locator(".ready")).to_be_visible()


async def test_a_match_that_has_begun_ends_only_after_a_question(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), DESKTOP)
    await open_table(page)
    await page.get_by_text("Change the game and the table").click()
    await page.get_by_label("Match").select_option("match of 3 races")
    await expect(page.get_by_text("Race 1 of 3")).to_be_visible()
    await press(page, "Start the race").click()
    await page.locator(".race .pile").first.wait_for()
    await page.keyboard.press("x")
    await page.get_by_role("dialog").get_by_role("button", name="Cash out").click()
    await press(page, "Again").click()
    await expect(page.get_by_text("Race 2 of 3")).to_be_visible()
    await page.get_by_text("Change the game and the table").click()
    await expect(seat_of(page, "Mira")).to_contain_text("1 of 1 won")
    await page.get_by_label("Match").select_option("match of 5 races")
    await expect(page.get_by_text("The match has begun: 1 race of 3.")).to_be_visible()
    await page.get_by_label("Match").select_option("one race")
    question = page.get_by_role("dialog", name="End the match after 1 of 3 races")
    await question.get_by_role("button", name="End the match").click()
    await expect(page.get_by_text("Race 2", exact=True)).to_be_visible()


async def test_a_full_table_of_long_names_fits_every_size_and_theme(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page, "Wilhelmina von Brown")
    async with AsyncExitStack() as here:
        for letter in "abcdefghjkmnpqr":
            name = f"{letter.upper() + 9 * letter} {letter.upper() + 8 * letter}"
            guest = player_at(page_server.url, name, bot=letter > "g")
            friend = await here.enter_async_context(guest)
            await friend.at_table(JoinTable, table=code)
        await expect(page.locator(".seats li")).to_have_count(16)
        await look(page, "table-full")
        for theme in ("felt", "paper", "contrast"):
            await page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            await check_accessible(page)
        await take_screenshot(page, "table-full-contrast")


async def test_a_player_whom_the_host_kicks_is_told_at_the_table_and_at_home(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        page = await pages.open(page_url(page_server, f"/{code}"))
        await sit_down(page, "Cleo")
        await expect(seat_of(page, "Cleo (you)")).to_be_visible()
        await anna.ask(Kick, table=code, player=anna.table.seats[1].player)
        await expect(page.get_by_text("The host has kicked you from the table.")).to_be_visible()
        await look(page, "table-kicked")
        await page.get_by_role("link", name="Go home").click()
        await page.get_by_label("Code or link of the table").fill(code)
        await page.keyboard.press("Enter")
        await sit_down(page, "Cleo")
        await expect(page.get_by_text("has kicked you from this table")).to_be_visible()

        # one who has gone home meanwhile reads the reason there
        await anna.ask(LeaveTable, table=code)
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        await visit(page, f"/{code}")
        await press(page, "Take a seat").click()
        await expect(seat_of(page, "Cleo (you)")).to_be_visible()
        await visit(page, "/")
        await anna.ask(Kick, table=code, player=anna.table.seats[1].player)
        notice = page.get_by_role("dialog", name=f"You are no longer at table {code}.")
        await expect(notice).to_contain_text("kicked")


async def test_a_tab_from_the_lobby_that_takes_over_a_ready_seat_reveals_the_nonce_of_the_other(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    other = await tab_in_lobby(page, pages, page_server)
    code = await open_table(page)
    await get_ready(page)
    await visit(other, f"/{code}")
    await expect(page.get_by_text("in another window")).to_be_visible()
    await press(other, "Start the race").click()
    await other.locator(".race .pile").first.wait_for()
    await expect(other.locator(".alarms")).to_be_empty()


async def test_a_tab_that_comes_to_the_countdown_of_another_tab_gets_its_deal(
    pages: Pages,
) -> None:
    # the usual countdown leaves time for the visit
    async with (
        serving_pages(module=ServerProcess.module) as server,
        player_at(server.url, "Anna") as anna,
    ):
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        page = await pages.open(page_url(server, f"/{code}"))
        other = await tab_in_lobby(page, pages, server)
        await sit_down(page, "Mira")
        await get_ready(page)
        await anna.ready()
        await anna.ask(Start, table=code)
        await anna.reveal()
        await visit(other, f"/{code}")
        await other.locator(".race .pile").first.wait_for()
        await expect(other.locator(".alarms")).to_be_empty()
        await pages.close()


async def tab_in_lobby(beside: Page, pages: Pages, server: ServerProcess) -> Page:
    """Open another tab in the lobby, and wait until the server has answered it."""
    tab = await pages.open_tab(beside, page_url(server))
    await expect(tab.get_by_text("None now")).to_be_visible()
    return tab


async def test_a_device_without_the_nonce_of_its_ready_player_lets_the_countdown_end(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    await get_ready(page)
    token = await page.evaluate("localStorage.getItem('saratoga.token')")
    other = await pages.open("about:blank")
    await other.context.add_init_script(f"localStorage.setItem('saratoga.token', '{token}')")
    await other.goto(page_url(page_server, f"/{code}"))
    await press(other, "Start the race").click()
    await expect(other.get_by_text("The countdown was voided").first).to_be_visible()
    await expect(other.locator(".alarms")).to_be_empty()

"""The pages before, during and after a race."""

import dataclasses
from collections.abc import Sequence
from dataclasses import replace as with_

import msgspec
import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Group

from kit.messages import racer
from kit.races import voided_race
from kit.screens import INK, page_text
from kit.session_states import (
    START,
    YOU,
    Matched,
    finished_race,
    in_match,
    over,
    player,
    seat,
    snapshot,
    state_after,
    table,
)
from saratoga_client.board_view.roles import LETTERS, UNICODE, Symbols
from saratoga_client.local.terminal import Colours
from saratoga_client.session.history import PersonalBest
from saratoga_client.session.state import SessionState
from saratoga_client.tui.reading import fair_deal_page
from saratoga_client.tui.screens.countdown import countdown_page
from saratoga_client.tui.screens.gathering import invitation_part, race_part, seats_part
from saratoga_client.tui.screens.results import findings_of, match_part, results_page
from saratoga_client.tui.theme import paint
from saratoga_client.tui.widgets import Ink
from saratoga_protocol import events
from saratoga_protocol.events import Table
from saratoga_rules.games import GAMES
from saratoga_rules.money import net

INVITATION = (
    "Race me at patience: Canfield, 10 minutes, the same deal for everyone.",
    "pipx install saratoga",
    "saratoga join ws://192.168.1.7:7470/mint-otter-42",
)


def gathering(seats: Sequence[events.Seat], host: str = "y") -> SessionState:
    return state_after(first=snapshot(shown=table(phase="gathering", seats=seats, host=host)))


def page(state: SessionState, width: int = 80, chosen: str = "", symbols: Symbols = UNICODE) -> str:
    ink = Ink(paint(Colours.NONE), ascii_only=symbols is LETTERS)
    parts = Group(
        invitation_part(state, INVITATION, ink),
        seats_part(state, chosen, symbols, ink),
        race_part(state, "", symbols, ink),
    )
    return page_text(parts, width)


def test_the_invitation_says_who_can_open_its_link() -> None:
    state = gathering([seat("y")])

    def lines(address: str) -> str:
        link = f"In a browser: http://{address}/mint-otter-42"
        part = page_text(invitation_part(state, ("what", link, "install", "command"), INK))
        return " ".join(part.split())

    assert lines("192.168.1.7:7470") == (
        "SEND THIS TO YOUR FRIENDS (y copies it, i shows a QR code)"
        " http://192.168.1.7:7470/mint-otter-42 any browser, nothing to install"
        " command in the terminal"
    )
    assert "http://127.0.0.1:7470/mint-otter-42 only on this machine" in lines("127.0.0.1:7470")


def test_in_a_match_each_seat_shows_its_money_of_the_match() -> None:
    seats = [seat("y", races=7, wins=4, net=240), seat("a", races=7, wins=3, net=-90)]
    state = gathering(seats)

    def in_match_after(*races: str) -> list[str]:
        return page(state_after(first=snapshot(shown=in_match(state.table, *races)))).splitlines()

    new = "\n".join(in_match_after())
    assert not any(old in new for old in ("4/7", "$240", "3/7", "-$90", "won"))
    begun = in_match_after("a20 y9")
    assert any("match: won     net" in line for line in begun)
    (you,) = (line for line in begun if " YOU " in line)
    assert you.split()[-2:] == ["0/1", "-$5"]
    (ana,) = (line for line in begun if "ana" in line)
    assert ana.split()[-2:] == ["1/1", "+$50"]


@pytest.mark.parametrize("width", [54, 80, 120])
@pytest.mark.parametrize("count", [1, 8, 16])
def test_no_seat_is_lost_and_no_line_is_cut(width: int, count: int) -> None:
    letters = "yabcdefghijklmno"[:count]
    seats = [seat(letter, name=f"{letter} Maximilian-Ferdi") for letter in letters]
    shown = page(gathering(seats), width)
    assert sum("Maximilian-Ferdi" in line for line in shown.split("\n")) == count - 1
    assert f"SEATS {count} of 16" in shown
    assert "saratoga join ws://192.168.1.7:7470/mint-otter-42" in shown


def test_a_terminal_with_ascii_alone_gets_ascii_alone() -> None:
    seats = [seat("a", ready=True), seat("o", connected=False)]
    assert page(gathering(seats), chosen=player("a"), symbols=LETTERS).isascii()


def test_a_voided_race_is_shown_with_its_reason() -> None:
    at_table = table(phase="gathering", race="mint-otter-42/2")
    state = state_after(first=snapshot(shown=replace(at_table, previous=voided_race())))
    shown = page(state)
    assert "VOIDED BY THE SERVER" in shown
    assert "Race 1 counts for nothing" in shown
    assert "VOIDED" not in page(gathering([seat("y")]))


LETTERS_OF_16 = "yabcdefghijklmno"


def countdown(letters: str) -> SessionState:
    racers = [
        racer(
            player(letter),
            "Maximilian-Ferdinand" if letter == "a" else f"racer {letter}",
            letter == "o",
            f"{number:02x}" * 32,
        )
        for number, letter in enumerate(letters)
    ]
    counting = msgspec.structs.replace(table(letters, phase="countdown"), racers=racers)
    return state_after(first=snapshot(shown=counting))


def page_of_countdown(
    state: SessionState,
    left: int = 3000,
    symbols: Symbols = UNICODE,
    width: int = 80,
    height: int = 21,
) -> str:
    drawn = countdown_page(state, START - left, symbols, INK, width, height)
    return page_text(drawn, width)


@pytest.mark.parametrize("letters", ["y", "yao", LETTERS_OF_16])
def test_all_racers_fit_on_80x24(letters: str) -> None:
    state = countdown(letters)
    shown, fair = page_of_countdown(state), page_text(fair_deal_page(state, "…", INK), 80)
    assert len(shown.rstrip().split("\n")) <= 21
    assert ("COLUMNS" in shown) == (len(letters) < 16), "the rules, where there is room"
    for number, letter in enumerate(letters):
        name = "Maximilian-Ferdinan" if letter == "a" else f"racer {letter}"
        if letter != "a" or len(letters) < 16:
            assert name in shown
        assert f"{number:02x}{number:02x} {number:02x}{number:02x} …" in fair
    assert "".join(fair.split()).count("c0" * 32) == 1, "the deal's whole fingerprint"


def test_on_a_narrow_screen_the_racers_stand_in_one_column() -> None:
    lines = page_of_countdown(countdown(LETTERS_OF_16), width=54, height=15).split("\n")
    for letter in LETTERS_OF_16.replace("a", ""):
        assert sum(f"racer {letter}" in line for line in lines) == 1
    assert not any("racer b" in line and "racer c" in line for line in lines)


def test_the_number_is_the_seconds_left_and_needs_no_block_characters() -> None:
    pages = [
        page_of_countdown(countdown("y"), ms, LETTERS) for ms in (4001, 4000, 3000, 2000, 1000, 0)
    ]
    assert len(set(pages)) == 6
    assert "GO!" in pages[-1]
    assert all(each.replace("ë", "e").isascii() for each in pages)


def test_a_racer_who_has_left_the_table_is_still_named() -> None:
    present = countdown("ya")
    gone = table("ya", phase="countdown", seats=[seat("y")])
    gone = msgspec.structs.replace(gone, racers=present.table.racers)
    shown = with_(present, table_view=with_(present.table_view, table=gone))
    assert "Maximilian" in page_of_countdown(shown)


RECORD = finished_race()


def page_of_results(shown: SessionState, width: int = 80, height: int = 21) -> str:
    found = findings_of(RECORD, shown.player)
    return page_text(results_page(shown, found, UNICODE, INK, width, height), width)


def crowd(count: int) -> SessionState:
    """Return a race of many players, all with names of the greatest length."""
    letters = "yabcdefghijklmno"[:count]
    results = [
        events.Result(
            player=player(letter),
            place=place,
            banked=30 - place,
            net=net(GAMES["canfield"], 30 - place),
            state="out-of-time",
            moves=40,
            reached=60_000 * place,
            head="0" * 16,
        )
        for place, letter in enumerate(letters, 1)
    ]
    seats = [
        seat(each.player[0], name=f"{each.player[0]} Maximilian-Ferdin", races=2, net=-35)
        for each in results
    ]
    at_table = table(letters, phase="over", seats=seats)
    outcome = events.Outcome(
        race=at_table.race, game="canfield", results=results, seed="", nonces={}, digest=""
    )
    first = replace_(snapshot(shown=at_table, now=START), outcome)
    return state_after(first=first)


def replace_(first: events.Snapshot, outcome: events.Outcome) -> events.Snapshot:
    return events.Snapshot(table=first.table, now=first.now, outcome=outcome)


def test_the_personal_best_is_shown_and_a_new_one_is_announced() -> None:
    best = PersonalBest(game="canfield", race="mint-otter-42/9", banked=21, net=55, reached=None)
    shown = dataclasses.replace(over(RECORD), best=best)
    assert "Your personal best: 21 banked, +$55." in page_of_results(shown)
    here = dataclasses.replace(best, race=shown.table.race)
    assert "A new personal best: 21 banked, +$55." in page_of_results(
        dataclasses.replace(shown, best=here, is_new_best=True)
    )
    # the first race of a game: the best is the result that the page shows anyway
    assert "personal best" not in page_of_results(dataclasses.replace(shown, best=here))


@pytest.mark.parametrize("width", [54, 80, 120])
def test_sixteen_racers_are_all_on_the_page_and_no_line_is_too_wide(width: int) -> None:
    state = crowd(16)
    assert state.player == YOU
    text = page_text(results_page(state, None, UNICODE, INK, width, 24), width)
    assert all(cell_len(line) <= width for line in text.split("\n"))
    for letter in "yabcdefghijklmno":
        assert letter == "y" or f" {letter} Maximilian-Ferdin" in text
    assert ("TOTAL" in text) is (width >= 80)


def test_a_race_voided_before_this_one_is_named() -> None:
    shown = over(RECORD)
    voided = msgspec.structs.replace(shown.table, previous=voided_race("mint-otter-42/1"))
    view = dataclasses.replace(shown.table_view, table=voided)
    assert "Race 1 counts for nothing" in page_of_results(
        dataclasses.replace(shown, table_view=view), width=120
    )


FIVE = ("a9 y5", "y9 a5", "a9", "a9 y5", "a30 y5")


def page_of_match(shown: Table | Matched, width: int = 80) -> list[str]:
    state = state_after(first=snapshot(shown=shown))
    text = page_text(Group(*match_part(state, UNICODE, INK, width)), width)
    return [line.rstrip() for line in text.split("\n")]


def test_each_player_has_place_and_money_of_every_race_and_the_total() -> None:
    lines = page_of_match(in_match(table(race="mint-otter-42/5", phase="over"), *FIVE, length=5))
    assert " ".join(lines[0].split()) == (
        "MATCH OF 5 RACES RACE 1 RACE 2 RACE 3 RACE 4 RACE 5 NET WON"
    )
    assert lines[1].split() == ["1", "ana", "-$5", "-$25", "-$5", "-$5", "+$100", "+$60", "4/5"]
    assert lines[2].split() == ["▸", "2", "YOU", "-$25", "-$5", "-$25", "-$25", "-$80", "1/4"]
    assert lines[2].index("-$5 ") > lines[0].index("RACE 2"), "the missed race has an empty cell"


@pytest.mark.parametrize("width", [54, 60, 80])
def test_no_line_is_too_wide_and_a_narrow_screen_keeps_the_totals(width: int) -> None:
    lines = page_of_match(in_match(table(phase="over"), *FIVE, length=5), width)
    assert all(cell_len(line) <= width for line in lines)
    (ana,) = (line for line in lines if " ana " in line and "champion" not in line)
    assert ana.split()[-2:] == ["+$60", "4/5"]


@pytest.mark.parametrize("game", GAMES)
def test_a_loser_sees_where_the_winners_moves_differ(game: str) -> None:
    record = finished_race(game)
    winner = record.results[0].player
    for each in record.racers:
        found = findings_of(record, each.player)
        assert found is not None
        assert any("Boards parted" in note for note in found.notes) is (each.player != winner)


def test_a_player_who_did_not_race_gets_no_difference_and_no_pause() -> None:
    found = findings_of(finished_race(), "nobody")
    assert found is not None
    assert found.notes == ()


def test_a_record_of_unknown_rules_gives_no_findings() -> None:
    assert findings_of(dataclasses.replace(finished_race(), rules_version=99), "nobody") is None

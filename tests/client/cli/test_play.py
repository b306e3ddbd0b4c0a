"""The commands that take a seat: host, join, lobby and bot."""

import asyncio
import json
import shlex
from dataclasses import replace

import pytest

from kit.client_servers import open_lobby
from kit.session_states import outcome, seat, snapshot, state_after, table
from saratoga_client.__main__ import saratoga
from saratoga_client.cli.bot import RESULT_FIELDS, print_results
from saratoga_client.cli.frame import run
from saratoga_client.cli.host import table_here
from saratoga_client.cli.join import left_race_line
from saratoga_client.local.printed_command import host_command
from saratoga_client.local.settings import load, remember_server
from saratoga_client.output import OutputFormat
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.state_store import StateStore
from saratoga_client.wording import dollars, state_words
from saratoga_protocol.events import RaceOver, TableSettings


def test_a_player_who_left_a_race_among_people_reads_the_result() -> None:
    assert left_race_line(state_after()) == "Your race ended with 1 banked, -$45."
    gathering = snapshot(shown=table(phase="gathering"))
    with_bot = snapshot(shown=table(seats=[seat("y"), seat("o")]))
    for first in (gathering, with_bot):
        assert left_race_line(state_after(first=first)) == ""


NOWHERE = "ws://127.0.0.1:1"


def test_the_hosted_game_its_limit_and_its_match_are_remembered_for_the_next_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = ["host", "caprice", "--cap", "20", "--races", "3", "--server", NOWHERE]
    assert run(saratoga, first) == Exit.UNREACHABLE
    assert (load().game, load().cap, load().races) == ("caprice", 20, 3)
    assert run(saratoga, ["host", "lafayette", "--server", NOWHERE]) == Exit.UNREACHABLE
    assert (load().game, load().cap, load().races) == ("lafayette", 20, 3)
    assert NOWHERE in capsys.readouterr().err


def test_a_host_learns_that_friends_cannot_reach_an_address_of_this_machine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosting = ["host", "canfield", "--server", NOWHERE, "--public-url", "ws://localhost:7470"]
    assert run(saratoga, hosting) == Exit.UNREACHABLE
    assert "ws://localhost:7470 can be reached from this machine only" in capsys.readouterr().err
    hosting[-1] = "wss://cards.example.org"
    assert run(saratoga, hosting) == Exit.UNREACHABLE
    assert "from this machine only" not in capsys.readouterr().err


def test_a_named_port_is_of_this_machine_although_a_server_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports: list[int | None] = []

    def local_server(public_url: str, port: int | None, listen: str) -> None:
        ports.append(port)
        raise Problem("It rains.", "", Exit.UNREACHABLE)

    monkeypatch.setattr("saratoga_client.cli.host.local_server", local_server)
    monkeypatch.setenv("SARATOGA_SERVER", "ws://127.0.0.1:8123")
    _, *words = shlex.split(host_command("ws://127.0.0.1:8123"))
    assert run(saratoga, words) == Exit.UNREACHABLE
    assert ports == [8123]


async def test_a_host_returns_to_the_kept_table_or_opens_the_chosen_one_without_a_question(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with open_lobby() as lobby:
        kept = await lobby.host("Cleo")
        anna = await lobby.player("Anna")
        remember_server(lobby.url, kept)
        wanted = TableSettings(game="caprice", cap=10, seats=16, public=False)
        for chosen, found, said in (
            ({"game": None, "cap": 5}, kept, f"You return to your table {kept}."),
            (
                {"game": "caprice", "cap": None},
                wanted,
                f"To return there: saratoga join {lobby.url}/",
            ),
        ):
            assert await table_here(anna, lobby.url, wanted, chosen) == found
            assert said in capsys.readouterr().err
        remember_server(lobby.url, "mint-otter-99")
        assert await table_here(anna, lobby.url, wanted, {"game": None}) == wanted
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("plain", [True, False])
async def test_an_unknown_table_is_reported_before_a_name_is_asked(
    plain: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_client.cli.join.in_lines", lambda _settings: plain)
    async with open_lobby() as lobby:
        joining = ["join", "mint-otter-99", "--server", lobby.url]
        assert await asyncio.to_thread(run, saratoga, joining) == Exit.NOT_FOUND
    shown = capsys.readouterr()
    assert "There is no table with that code." in shown.err
    assert "name" not in shown.out
    assert "Your name" not in shown.err


async def test_a_joined_server_is_the_one_that_commands_mean_from_then_on() -> None:
    async with open_lobby() as lobby:
        joining = ["join", f"{lobby.url}/mint-otter-99", "--plain"]
        assert await asyncio.to_thread(run, saratoga, joining) == Exit.NOT_FOUND
        assert load().server_url == lobby.url
    assert load().server == "", "`saratoga host` opens a server on this machine"


async def printed_by_bot(shown_in: OutputFormat, player: str, *states: SessionState) -> None:
    store = StateStore(lambda: 0)
    printing = asyncio.create_task(print_results(store.states(), player, "Otto", shown_in))
    for state in states:
        store.replace(state)
        await asyncio.sleep(0)
    store.close()
    await printing


async def test_programs_get_the_whole_result_after_its_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    over = state_after(RaceOver(outcome=outcome("y4 a3")))
    raced = over.table_view.outcome
    assert raced is not None
    result = raced.results[0]
    alarmed = replace(over, alarms=("The deal was changed.",))
    bad = Verification(False, "Bad.")
    checked = replace(alarmed, verifications={"another-race-1/1": bad, raced.race: bad})
    await printed_by_bot(OutputFormat.JSON, result.player, over, alarmed, checked)
    printed = json.loads(capsys.readouterr().out)
    assert printed == {
        "schema": "saratoga.bot.v1",
        "race": raced.race,
        "game": raced.game,
        "name": "Otto",
        **{key: getattr(result, key) for key in RESULT_FIELDS},
        "verification": {"race": raced.race, "verified": False, "sentence": "Bad."},
        "alarms": ["The deal was changed."],
    }
    await printed_by_bot(OutputFormat.JSON, result.player, over)
    assert json.loads(capsys.readouterr().out)["verification"] is None, "the bot ended before"


async def test_people_get_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    over = state_after(RaceOver(outcome=outcome("y4 a3")))
    raced = over.table_view.outcome
    assert raced is not None
    result = raced.results[-1]
    await printed_by_bot(OutputFormat.PLAIN, result.player, over, replace(over, idle_since=7))
    (line,) = capsys.readouterr().out.splitlines()
    assert line == (
        f"{raced.race}: place {result.place} of {len(raced.results)}, {result.banked} banked, "
        f"{dollars(result.net)}, {state_words(result.state)}"
    )

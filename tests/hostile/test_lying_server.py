"""A server that lies about a race is found out by `saratoga` as a program, which says so and ends with exit code 7.

`tests/client/session/test_lies.py` has all lies, in process.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from kit.evenings import ME, RACE, WATCHER, Told, moves_of, one_race, race_of, retold
from kit.fact_lies import LIES
from kit.line_client import line_client
from kit.players import token_of
from kit.tables import nonce
from saratoga_client.local.identity import TOKENS_FOLDER
from saratoga_client.local.origins import origin_of
from saratoga_client.local.paths import OWNER_ONLY, replace_file
from saratoga_client.problems import Exit
from saratoga_protocol.commands import MakeMove

HONEST, FOREIGN_SEED = "honest", "record: another seed"
SENTENCE = "the server has changed the moves of a racer"


def lied_to(evening: Mapping[str, Told], client: str, name: str) -> Told:
    """Return one race as a client is told it, with the lie of that name, or honestly."""
    told = evening[client]
    return one_race(LIES[name].edit(told) if name != HONEST else told)


def import_token(folder: Path, url: str, player: str) -> None:
    """Give a client with this folder the token of a player of the evening."""
    path = folder / TOKENS_FOLDER / f"{quote(origin_of(url), safe='')}.token"
    replace_file(path, token_of(player).encode(), mode=OWNER_ONLY)


@pytest.mark.parametrize("is_joined", [True, False])
@pytest.mark.parametrize("name", [HONEST, FOREIGN_SEED])
async def test_the_plain_client_writes_the_alarm_and_ends_with_7(
    evening: Mapping[str, Told], name: str, is_joined: bool, tmp_path: Path
) -> None:
    told = lied_to(evening, ME, name)
    race = race_of(told, RACE)
    code, _, _ = race.partition("/")
    words = ("join", code, "--plain") if is_joined else ("--plain",)
    moves = [move.move if isinstance(move, MakeMove) else "cash out yes" for move in moves_of(told)]
    async with retold(told) as (server, _):
        import_token(tmp_path, server.url, ME)
        async with line_client(server.url, tmp_path, *words, nonce=nonce(told.player)) as client:
            if not is_joined:
                client.type(f"join {code}")
            client.type("ready", "wait deal", *moves)
            client.end_input()
            ended = await client.ended()
    alarms = [line for line in client.lines if line.startswith("alarm: ")]
    if name == HONEST:
        assert f"verified: {race} is verified: it is the race that you played." in client.lines
        assert (ended, alarms, client.errors) == (Exit.DONE, [], [])
        return
    assert ended == Exit.NOT_VERIFIED
    assert any(SENTENCE in alarm for alarm in alarms), client.lines
    assert any("NOT VERIFIED" in alarm for alarm in alarms), client.lines
    assert any(SENTENCE in line for line in client.errors), "again when the program ends"


@pytest.mark.parametrize("name", [HONEST, FOREIGN_SEED])
async def test_watch_once_waits_for_the_verdict_and_has_it_in_json(
    evening: Mapping[str, Told], name: str, tmp_path: Path
) -> None:
    told = lied_to(evening, WATCHER, name)
    race = race_of(told, RACE)
    words = ("watch", race.partition("/")[0], "--once", "--json")
    async with retold(told) as (server, _):
        import_token(tmp_path, server.url, WATCHER)
        async with line_client(server.url, tmp_path, *words) as client:
            ended = await client.ended()
    last = json.loads(client.lines[-1])
    assert (last["race"], bool(last["digest"])) == (race, True)
    assert last["verification"]["race"] == race
    if name == HONEST:
        assert last["verification"]["verified"], last
        assert (ended, last["alarms"], client.errors) == (Exit.DONE, [], [])
        return
    assert ended == Exit.NOT_VERIFIED
    assert not last["verification"]["verified"]
    assert any(SENTENCE in alarm for alarm in last["alarms"]), last

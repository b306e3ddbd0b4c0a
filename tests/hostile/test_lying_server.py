"""A server that lies about a race is found out by `saratoga` as a program, which says so and ends with exit code 7.

`tests/client/session/test_lies.py` has all lies, in process.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from kit.line_client import line_client
from kit.lying_server import Lie, LyingServer
from kit.race_lies import LIES, OWN, TOKEN, TRUTH
from kit.scripted_server import scripted_server
from saratoga_client.local.identity import TOKENS_FOLDER
from saratoga_client.local.origins import origin_of
from saratoga_client.local.paths import OWNER_ONLY, replace_file
from saratoga_client.problems import Exit


@asynccontextmanager
async def lying_to(lie: Lie, *, is_watched: bool = False) -> AsyncIterator[str]:
    """Serve one race to a client that is another process; yield the server's address."""
    async with scripted_server() as server:
        liar = LyingServer(server, TRUTH, lie, is_watched)

        async def serve() -> None:
            await liar.race(await server.peer())

        serving = asyncio.create_task(serve())
        try:
            yield server.url
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def import_token(folder: Path, url: str) -> None:
    """Give a client with this folder the token of the racer."""
    path = folder / TOKENS_FOLDER / f"{quote(origin_of(url), safe='')}.token"
    replace_file(path, TOKEN.encode(), mode=OWNER_ONLY)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, ("join", TRUTH.table, "--plain")) for name in ("honest", "a foreign seed")),
        *((name, ("--plain",)) for name in ("honest", "a foreign seed")),
    ],
)
async def test_the_plain_client_writes_the_alarm_and_ends_with_7(
    name: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    lie = LIES.get(name, Lie())
    sentence = "the server has changed the moves of a racer"
    moves = ["cash out yes" if line.text == "cash-out" else line.text for line in OWN.log]
    async with lying_to(lie) as url:
        import_token(tmp_path, url)
        async with line_client(url, tmp_path, *words, nonce=OWN.nonce) as client:
            if "join" not in words:
                client.type(f"join {TRUTH.table}")
            client.type("ready", "wait deal", *moves)
            client.end_input()
            code = await client.ended()
    alarms = [line for line in client.lines if line.startswith("alarm: ")]
    if name == "honest":
        assert (
            f"verified: {TRUTH.race_id} is verified: it is the race that you played."
            in client.lines
        )
        assert (code, alarms, client.errors) == (Exit.DONE, [], [])
        return
    assert code == Exit.NOT_VERIFIED
    assert any(sentence in alarm for alarm in alarms), client.lines
    assert any("NOT VERIFIED" in alarm for alarm in alarms), client.lines
    assert any(sentence in line for line in client.errors), "again when the program ends"


@pytest.mark.parametrize("name", ["honest", "a foreign seed"])
async def test_watch_once_waits_for_the_verdict_and_has_it_in_json(
    name: str, tmp_path: Path
) -> None:
    lie = LIES.get(name, Lie())
    sentence = "the server has changed the moves of a racer"
    words = ("watch", TRUTH.table, "--once", "--json")
    async with lying_to(lie, is_watched=True) as url, line_client(url, tmp_path, *words) as client:
        code = await client.ended()
    last = json.loads(client.lines[-1])
    assert (last["race"], bool(last["digest"])) == (TRUTH.race_id, True)
    assert last["verification"]["race"] == TRUTH.race_id
    if name == "honest":
        assert last["verification"]["verified"], last
        assert (code, last["alarms"], client.errors) == (Exit.DONE, [], [])
        return
    assert code == Exit.NOT_VERIFIED
    assert not last["verification"]["verified"]
    assert any(sentence in alarm for alarm in last["alarms"]), last

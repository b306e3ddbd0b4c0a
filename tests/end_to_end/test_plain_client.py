"""The plain client as a process with pipes, on a real server."""

from pathlib import Path
from random import Random

from kit.line_client import LineClient, line_client
from kit.server_process import ServerProcess
from saratoga_client.problems import Exit

GAMES = ("canfield", "klondike")
MOST_MOVES = 10


def code_of(line: str) -> str:
    """Return the table's code from a line such as `table mint-otter-42: ...`."""
    return line.split()[1].rstrip(":")


async def seated(client: LineClient) -> str:
    """Wait until the client has taken a seat; return the table's code."""
    return code_of(await client.expect("table "))


async def start_race(host: LineClient, *others: LineClient) -> None:
    for client in (host, *others):
        client.type("ready")
        await client.expect("ok: you are ready")
    host.type(f"wait ready {1 + len(others)}", "start")
    for client in (host, *others):
        assert " ready" in await client.expect("countdown: "), "the call"
        assert " racer" in await client.expect("countdown: ")
        assert await client.expect("countdown: ") == "countdown: 0"
        await client.expect("deal: ")


async def cash_out(client: LineClient) -> None:
    """Cash out, unless the board has ended because it was stuck."""
    client.type("cash out")
    if (await client.expect("cash out: ", "no: Your board has ended")).startswith("cash out: "):
        client.type("yes")
        await client.expect("ended: ")


async def test_two_players_race_two_games_by_typed_moves_and_one_watches(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    chance = Random(5)
    async with (
        line_client(quick_server.url, tmp_path / "anna", "--plain") as anna,
        line_client(quick_server.url, tmp_path / "carl", "--plain") as carl,
    ):
        anna.type("name Anna", f"create {GAMES[0]} cap 3 seats 2")
        code = await seated(anna)
        carl.type(f"watch {code}", "verbose on")
        await carl.expect("ok: ")
        async with line_client(
            quick_server.url, tmp_path / "bert", "join", code, "--plain"
        ) as bert:
            await bert.expect("name: ")
            bert.type("Bert")
            await seated(bert)
            for number, game in enumerate(GAMES, start=1):
                if number > 1:
                    anna.type("next", f"settings game {game}")
                    await anna.expect(f"settings: {game}")
                    await bert.expect(f"settings: {game}")
                await start_race(anna, bert)
                dealt = {client: client.read_to for client in (anna, bert)}
                for client in dealt:
                    await client.play(chance, MOST_MOVES)
                    await cash_out(client)
                results = []
                for client, heard in dealt.items():
                    # a board that is stuck may have ended the race before the last command
                    client.read_to = heard
                    over = await client.expect(f"race {code}/{number}: over")
                    assert over.startswith(f"race {code}/{number}: over, {game}")
                    results.append([await client.expect("result ") for _ in range(2)])
                    await client.expect("verified: ")
                assert results[0] == results[1]
            anna.type("review")
            while "could have banked at least" not in await anna.expect("par: "):
                anna.type("review")
            anna.type("totals")
            carl.type("leave", "quit")
            assert await carl.ended() == Exit.DONE
            heads = [line.partition(":")[0].split()[0] for line in carl.lines]
            assert heads.count("result") == 2 * len(GAMES)
            assert "standing" in heads
            assert set(heads).isdisjoint({"deal", "board", "column", "waste", "move"})
            totals = [await anna.expect("total ") for _ in range(2)]
            assert all(f"{len(GAMES)} races" in line for line in totals)
            bert.type("leave")
            await bert.expect("left: ")
            assert await bert.ended() == Exit.DONE
            await anna.expect("notice: Bert has left")
            anna.type("leave", "quit")
            assert await anna.ended() == Exit.DONE


async def test_the_board_stays_as_it_is_if_the_input_ends_in_a_race(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    async with line_client(quick_server.url, tmp_path / "anna", "--plain") as anna:
        anna.type("name Anna", "create canfield cap 10")
        code = await seated(anna)
        async with line_client(quick_server.url, tmp_path / "bert", "--plain") as bert:
            bert.type("name Bert", f"join {code}")
            await seated(bert)
            await start_race(anna, bert)
            bert.type("draw", "draw")
            bert.end_input()
            goodbye = await bert.expect("input: ")
            assert goodbye.startswith("input: no more lines; your board stays as it is")
            assert goodbye.endswith(f"saratoga join {code}")
            assert await bert.ended() == Exit.DONE
        assert await anna.expect("seat: Bert") == "seat: Bert lost the connection"
        async with line_client(
            quick_server.url, tmp_path / "bert", "join", code, "--plain"
        ) as bert:
            assert (await bert.expect("board: ")).startswith("board: canfield, 2 moves")
            assert await anna.expect("seat: Bert") == "seat: Bert is back"
            for client in (anna, bert):
                client.type("cash out yes")
            await bert.expect("result ")


async def test_a_script_can_list_the_commands_of_a_whole_race_in_advance(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    async with line_client(quick_server.url, tmp_path / "anna", "--plain") as anna:
        anna.type("name Anna", "create caprice cap 3", "ready", "start", "wait deal", "draw")
        anna.type("clock", "cash out yes", "wait result", "share")
        anna.end_input()
        assert await anna.ended() == Exit.DONE
        heads = [line.partition(":")[0].split()[0] for line in anna.lines]
        wanted = ["deal", "move", "clock", "ended", "result", "share", "left"]
        assert [head for head in dict.fromkeys(heads) if head in wanted] == wanted

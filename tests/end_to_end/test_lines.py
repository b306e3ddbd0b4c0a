"""The whole client as lines, at the other end of a pipe, against a real house."""

from pathlib import Path
from random import Random

from kit.line_client import LineClient, line_client
from kit.server_process import ServerProcess
from saratoga_client.problems import Exit
from saratoga_rules.games import GAMES

MOST_MOVES = 25


def code_of(line: str) -> str:
    """The table's code in `table mint-otter-42: ..`."""
    return line.split()[1].rstrip(":")


async def seated(client: LineClient) -> str:
    """Wait until the client sits; the table's code."""
    return code_of(await client.hear("table "))


async def start_race(host: LineClient, *guests: LineClient) -> None:
    for client in (host, *guests):
        client.say("ready")
        await client.hear("ok: you are ready")
    host.say(f"wait ready {1 + len(guests)}", "start")
    for client in (host, *guests):
        await client.hear("countdown: ")
        assert await client.hear("countdown: ") == "countdown: 0"
        await client.hear("deal: ")


async def take_the_money(client: LineClient) -> None:
    """Cash out, unless the deal has left nothing to play and the board has ended by itself."""
    client.say("cash out")
    if (await client.hear("cash out: ", "no: Your board has ended")).startswith("cash out: "):
        client.say("yes")
        await client.hear("ended: ")


async def test_two_friends_race_every_game_by_typed_moves_alone_and_one_listens(
    server_process: ServerProcess, tmp_path: Path
) -> None:
    chance = Random(5)
    async with (
        line_client(server_process.url, tmp_path / "anna", "--plain") as anna,
        line_client(server_process.url, tmp_path / "carl", "--plain") as carl,
    ):
        anna.say("name Anna", "create canfield cap 3 seats 2")
        code = await seated(anna)
        carl.say(f"watch {code}", "verbose on")
        await carl.hear("ok: ")
        async with line_client(
            server_process.url, tmp_path / "bert", "join", code, "--plain"
        ) as bert:
            await bert.hear("name: ")
            bert.say("Bert")
            await seated(bert)
            for number, game in enumerate(GAMES, start=1):
                if number > 1:
                    anna.say("next", f"settings game {game}")
                    await anna.hear(f"settings: {game}")
                    await bert.hear(f"settings: {game}")
                await start_race(anna, bert)
                dealt = {client: client.read_to for client in (anna, bert)}
                for client in dealt:
                    await client.play(chance, MOST_MOVES)
                    await take_the_money(client)
                results = []
                for client, heard in dealt.items():
                    # a board that is stuck may have ended the race while one still asked
                    client.hear_again(heard)
                    over = await client.hear(f"race {code}/{number}: over")
                    assert over.startswith(f"race {code}/{number}: over, {game}")
                    results.append([await client.hear("result ") for _ in range(2)])
                    await client.hear("verified: ")
                assert results[0] == results[1]
            anna.say("totals")
            carl.say("leave", "quit")
            assert await carl.ended() == Exit.DONE
            heads = [line.partition(":")[0].split()[0] for line in carl.lines]
            assert heads.count("result") == 10
            assert "standing" in heads
            assert set(heads).isdisjoint({"deal", "board", "column", "waste", "move"})
            totals = [await anna.hear("total ") for _ in range(2)]
            assert all("5 races" in line for line in totals)
            bert.say("leave")
            await bert.hear("left: ")
            assert await bert.ended() == Exit.DONE
            await anna.hear("notice: Bert has left")
            anna.say("leave", "quit")
            assert await anna.ended() == Exit.DONE


async def test_a_race_goes_on_where_it_was_when_the_house_was_killed(
    server_process: ServerProcess, tmp_path: Path
) -> None:
    chance = Random(8)
    async with line_client(server_process.url, tmp_path / "anna", "--plain") as anna:
        anna.say("name Anna", "create lafayette cap 10")
        code = await seated(anna)
        await start_race(anna)
        made = await anna.play(chance, 6)
        await server_process.kill()
        await anna.hear("link: connection lost")
        anna.say("draw", "look")
        await server_process.start()
        assert await anna.hear("link: ") == "link: connected again"
        assert (await anna.hear("move ")).startswith(f"move {made + 1} draw: turned ")
        assert await anna.hear("board: ") == f"board: lafayette, {made + 1} moves, " + (
            await last_money(anna)
        )
        await anna.play(chance, 5)
        anna.say("cash out yes", "wait verified", "leave", "quit")
        await anna.hear("ended: cashed out")
        assert (await anna.hear("race ")).startswith(f"race {code}/1: over, lafayette")
        assert (await anna.hear("verified: ")).endswith("witnessed here.")
        assert await anna.ended() == Exit.DONE


async def last_money(client: LineClient) -> str:
    """What was said last of a count and its money."""
    return next(
        line.partition(" moves, ")[2]
        for line in reversed(client.lines)
        if line.startswith("board: ")
    )


async def test_when_the_lines_end_in_a_race_the_board_stays_as_it_is(
    server_process: ServerProcess, tmp_path: Path
) -> None:
    async with line_client(server_process.url, tmp_path / "anna", "--plain") as anna:
        anna.say("name Anna", "create canfield cap 10")
        code = await seated(anna)
        async with line_client(server_process.url, tmp_path / "bert", "--plain") as bert:
            bert.say("name Bert", f"join {code}")
            await seated(bert)
            await start_race(anna, bert)
            bert.say("draw", "draw")
            bert.fall_silent()
            goodbye = await bert.hear("input: ")
            assert goodbye.startswith("input: no more lines; your board stays as it is")
            assert goodbye.endswith(f"saratoga join {code}")
            assert await bert.ended() == Exit.DONE
        assert await anna.hear("seat: Bert") == "seat: Bert lost the connection"
        async with line_client(
            server_process.url, tmp_path / "bert", "join", code, "--plain"
        ) as bert:
            assert (await bert.hear("board: ")).startswith("board: canfield, 2 moves")
            assert await anna.hear("seat: Bert") == "seat: Bert is back"
            for client in (anna, bert):
                client.say("cash out yes")
            await bert.hear("result ")


async def test_a_script_that_ends_before_the_race_gives_its_seat_up(
    server_process: ServerProcess, tmp_path: Path
) -> None:
    async with line_client(server_process.url, tmp_path / "anna", "--plain") as anna:
        anna.say("name Anna", "create canfield")
        code = await seated(anna)
        async with line_client(
            server_process.url, tmp_path / "bert", "join", code, "--plain"
        ) as bert:
            bert.say("Bert", "ready")
            bert.fall_silent()
            assert await bert.hear("left: ") == f"left: {code}"
            assert await bert.ended() == Exit.DONE
        assert await anna.hear("notice: ") == "notice: Bert has left."


async def test_a_whole_race_can_be_written_down_beforehand(
    server_process: ServerProcess, tmp_path: Path
) -> None:
    async with line_client(server_process.url, tmp_path / "anna", "--plain") as anna:
        anna.say("name Anna", "create caprice cap 3", "ready", "start", "wait deal", "draw")
        anna.say("clock", "cash out yes", "wait result", "share")
        anna.fall_silent()
        assert await anna.ended() == Exit.DONE
        heads = [line.partition(":")[0].split()[0] for line in anna.lines]
        wanted = ["deal", "move", "clock", "ended", "result", "share", "left"]
        assert [head for head in dict.fromkeys(heads) if head in wanted] == wanted


async def test_practice_needs_no_house(tmp_path: Path) -> None:
    async with line_client(
        "ws://127.0.0.1:9", tmp_path / "home", "practice", "canfield", "--plain"
    ) as anna:
        assert (await anna.hear("practice: ")).startswith("practice: Canfield, seed ")
        anna.say("seed pelican", "draw", "look")
        await anna.hear("practice: Canfield, seed pelican")
        drawn = await anna.hear("move 1 draw: ")
        assert (await anna.hear("board: ")).startswith("board: canfield, 1 move")
        anna.say("undo", "redo", "undo", "restart", "hint", "draw")
        await anna.hear("undone draw: ")
        await anna.hear("made again draw: ")
        await anna.hear("practice: Canfield, seed pelican")
        await anna.hear("hint ")
        assert await anna.hear("move 1 draw: ") == drawn
        anna.fall_silent()
        assert await anna.ended() == Exit.DONE

"""Practice through a pipe: whatever is ordered is answered, and none of it looks like a race."""

from collections.abc import Sequence

import pytest

from kit.recorded_output import scripted_session
from saratoga_client.plain.practice import run_practice
from saratoga_client.plain.session import ExitReason
from saratoga_client.practice.deals import BadSeed, from_seed
from saratoga_client.practice.run_store import RunStore
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]


async def told(
    *commands: str, name: str = "canfield", seed: str = "7", with_ghost: bool = False
) -> tuple[list[str], ExitReason]:
    """Practise with these commands; returns the lines from the deal on, and why it ended."""
    session, output = scripted_session(*commands)
    reason = await run_practice(GAMES[name], seed, session=session, with_ghost=with_ghost)
    return output.lines, reason


def answers(said: Sequence[str], beginning: str) -> list[str]:
    return [line for line in said if line.startswith(beginning)]


@pytest.mark.parametrize("name", GAMES)
async def test_practice_calls_itself_practice_from_the_first_line_to_the_last(name: str) -> None:
    said, _ = await told("draw", "look", "hint", "leave", name=name)
    assert said[0].startswith(f"practice: {GAMES[name].title}, seed 7")
    assert said[-1].startswith("practice: over")
    assert not [line for line in said if "place" in line or line.startswith(("race", "standing"))]


@pytest.mark.parametrize(
    ("commands", "reason"),
    [(("leave",), ExitReason.LEFT), (("quit",), ExitReason.QUIT), ((), ExitReason.INPUT_ENDED)],
)
async def test_practice_ends_as_it_was_asked_to(
    commands: tuple[str, ...], reason: ExitReason
) -> None:
    assert (await told(*commands))[1] is reason


async def test_moves_are_undone_and_made_again_and_said_with_what_they_were() -> None:
    said, _ = await told("undo", "draw", "undo", "redo", "redo")
    assert answers(said, "no: There is no move to undo")
    assert answers(said, "move 1 draw: turned")
    assert answers(said, "undone draw")
    assert answers(said, "made again draw")
    assert said[-2].startswith("no:")


async def test_the_same_seed_is_the_same_deal_and_another_is_another() -> None:
    said, _ = await told("restart", "seed abc", "seed 7", "seed", "seed " + "x" * 50)
    deals = [at for at, line in enumerate(said) if line.startswith("practice: Canfield")]
    first, again, other, back = (said[at : at + 8] for at in deals)
    assert first == again == back
    assert other[0].startswith("practice: Canfield, seed abc")
    assert other[1:] != first[1:]
    assert answers(said, "seed: seed 7. Type new for another.")
    assert answers(said, "no: A seed has at most 40 characters")


async def test_a_bad_seed_is_refused_before_anything_is_dealt() -> None:
    with pytest.raises(BadSeed):
        await run_practice(CANFIELD, "x" * 50)


async def test_a_hint_names_a_move_that_can_be_typed() -> None:
    said, _ = await told("hint")
    (hint,) = answers(said, "hint")
    move = hint.removeprefix("hint ").split(":")[0]
    assert answers((await told(move))[0], f"move 1 {move}")


async def test_the_run_is_kept_when_the_input_ends_and_comes_back_as_a_ghost() -> None:
    await told("draw", "draw")
    (run,) = RunStore().runs(from_seed(CANFIELD, "7"))
    assert len(run.practice.made) == 2
    said, _ = await told("ghost", "ghost off", with_ghost=True)
    assert answers(said, "ghost: You race a ghost: your run, 1 banked")
    assert answers(said, "ghost: your run, 1 banked")
    assert said[-2] == "ghost: off"


async def test_what_is_neither_order_nor_move_is_said_to_be_neither() -> None:
    said, _ = await told("jump", "3>4", "help")
    assert answers(said, "no: 'jump' is neither a command nor a move. Type help.")
    assert len(answers(said, "no:")) == 2
    assert answers(said, "help undo")
    assert not answers(said, "help cash")


async def test_the_result_can_be_shared_and_the_rules_read() -> None:
    said, _ = await told("share", "rules", "clock", "safe", "legal", "where 9d", "cards words")
    assert answers(said, "share: Try it: saratoga practice canfield --seed 7")
    assert answers(said, "rules game: Canfield")
    assert answers(said, "clock: 0:0")
    assert answers(said, "no: No card is safe to bank now")
    assert answers(said, "legal draw")
    assert answers(said, "where 9D: the reserve")
    assert answers(said, "ok: cards are written in words")

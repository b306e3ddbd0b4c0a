"""Practice in plain lines: it is marked as practice, and runs are saved."""

from collections.abc import Sequence

import pytest

from kit.plain_sessions import scripted_session
from saratoga_client.plain.practice import run_practice
from saratoga_client.plain.session import ExitReason
from saratoga_client.practice.deals import BadSeed, from_seed
from saratoga_client.practice.run_store import RunStore
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]


async def practised(
    *commands: str, name: str = "canfield", seed: str = "7", with_ghost: bool = False
) -> tuple[list[str], ExitReason]:
    """Practise with these commands; return the lines and the reason for the end."""
    session, output = scripted_session(*commands)
    reason = await run_practice(GAMES[name], seed, session=session, with_ghost=with_ghost)
    return output.lines, reason


def answers(said: Sequence[str], beginning: str) -> list[str]:
    return [line for line in said if line.startswith(beginning)]


@pytest.mark.parametrize("name", GAMES)
async def test_practice_never_looks_like_a_race(name: str) -> None:
    said, _ = await practised("draw", "look", "hint", "leave", name=name)
    assert said[0].startswith(f"practice: {GAMES[name].title}, seed 7")
    assert said[-1].startswith("practice: over")
    assert not [line for line in said if "place" in line or line.startswith(("race", "standing"))]


async def test_a_bad_seed_is_refused_before_the_deal() -> None:
    with pytest.raises(BadSeed):
        await run_practice(CANFIELD, "x" * 50)


async def test_a_run_is_saved_at_the_end_of_the_input_and_becomes_the_ghost() -> None:
    await practised("draw", "draw")
    (run,) = RunStore().runs(from_seed(CANFIELD, "7"))
    assert len(run.climb.counts) == 2
    said, _ = await practised("ghost", "ghost off", with_ghost=True)
    assert answers(said, "ghost: You race a ghost: your run, 1 banked")
    assert answers(said, "ghost: your run, 1 banked")
    assert said[-2] == "ghost: off"

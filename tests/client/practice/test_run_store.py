"""The saved runs of a deal, as ghosts."""

from pathlib import Path

from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.ghost import Ghost
from saratoga_client.practice.run_store import MOST_KEPT, RunStore
from saratoga_client.review.climb import Climb
from saratoga_rules.games import GAMES

DEAL = from_seed(GAMES["canfield"], "demo")


def run(banked: int) -> Ghost:
    return Ghost(f"your run, {banked} banked in 0:09", Climb(1, ((500, banked),), 9_000))


def test_a_saved_run_is_found_with_its_deal_and_no_other(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    for banked in (5, 3):
        run_store.keep(DEAL, run(banked))
    run_store.keep(from_seed(GAMES["canfield"], "another"), run(4))
    assert run_store.runs(DEAL) == [run(5), run(3)]
    assert run_store.runs(from_seed(GAMES["lafayette"], "demo")) == []


def test_the_oldest_run_makes_room_and_an_unreadable_file_is_replaced(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    for banked in range(MOST_KEPT + 3):
        run_store.keep(DEAL, run(banked))
    assert run_store.runs(DEAL) == [run(banked) for banked in range(3, MOST_KEPT + 3)]
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(b'[{"words": 1}]')
    assert run_store.runs(DEAL) == []
    run_store.keep(DEAL, run(2))
    assert run_store.runs(DEAL) == [run(2)]

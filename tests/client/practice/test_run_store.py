from pathlib import Path

import pytest

from saratoga_client.local.paths import HOME_VARIABLE
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.game import make, new_game
from saratoga_client.practice.run_store import MOST_BYTES, MOST_KEPT, RunStore, load_run
from saratoga_client.practice.runs import PracticeRun, format_run
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW

CANFIELD = GAMES["canfield"]


def run_at(began: int, seed: str = "demo") -> PracticeRun:
    practice = make(new_game(from_seed(CANFIELD, seed)), DRAW, 500)
    return PracticeRun(practice=practice, began=began, end=900)


def test_a_kept_run_is_found_with_its_deal_and_no_other(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    run_store.keep(run_at(5))
    run_store.keep(run_at(3))
    run_store.keep(run_at(4, seed="another"))
    assert [run.began for run in run_store.runs(from_seed(CANFIELD, "demo"))] == [3, 5]
    assert run_store.runs(from_seed(GAMES["lafayette"], "demo")) == []


def test_runs_lie_in_the_player_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    path = RunStore().keep(run_at(5))
    assert path.is_relative_to(tmp_path / "practice" / "canfield")
    assert load_run(path).end == 900


def test_nothing_half_written_is_left_beside_it(tmp_path: Path) -> None:
    path = RunStore(tmp_path).keep(run_at(5))
    assert list(path.parent.iterdir()) == [path]
    assert path.read_text(encoding="ascii") == format_run(run_at(5))


def test_the_oldest_run_makes_room(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    for began in range(MOST_KEPT + 3):
        run_store.keep(run_at(began))
    kept = [run.began for run in run_store.runs(from_seed(CANFIELD, "demo"))]
    assert kept == list(range(3, MOST_KEPT + 3))


def test_an_unreadable_run_is_skipped(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    folder = run_store.keep(run_at(5)).parent
    (folder / "000000000000006.run").write_text("saratoga practice 1\n", encoding="ascii")
    (folder / "000000000000007.run").write_bytes(b"\xff\xfe")
    (folder / "000000000000008.run").write_text("x" * (MOST_BYTES + 2), encoding="ascii")
    assert [run.began for run in run_store.runs(from_seed(CANFIELD, "demo"))] == [5]

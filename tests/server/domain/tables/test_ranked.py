"""Whether a starting race counts, for people and for bots."""

import pytest

from kit.tables import ANN, BEN, CLEO, NOON, all_ready, all_shown, called, counting, seated
from saratoga_server.domain.tables import RankedTables, TableOptions, lock, start
from saratoga_server.domain.tables.ranked import with_ranked


@pytest.mark.parametrize(
    ("bots", "cap", "public", "ranked", "ranked_bots"),
    [
        ((), 10, True, True, True),
        ((CLEO,), 10, True, True, True),
        ((BEN, CLEO), 10, True, False, True),
        ((), 10, False, False, False),
        ((), 0, False, False, False),
    ],
    ids=["people", "two people and a bot", "one person", "private", "no time limit"],
)
def test_what_a_race_counts_for_where_only_public_tables_do(
    bots: tuple[str, ...], cap: int, public: bool, ranked: bool, ranked_bots: bool
) -> None:
    settings = TableOptions(game="canfield", cap=cap, public=public)
    table = counting(ANN, BEN, CLEO, settings=settings, bots=bots)
    started = with_ranked(table, RankedTables.PUBLIC)
    assert (started.ranked, started.ranked_bots) == (ranked, ranked_bots)
    private_counts = with_ranked(table, RankedTables.ALL)
    assert private_counts.ranked is (ranked or (not public and cap > 0))


def test_a_locked_table_counts_as_little_as_a_private_one() -> None:
    settings = TableOptions(game="canfield", public=True)
    locked = lock(seated(ANN, BEN, settings=settings), ANN, 9, locked=True, now=NOON).table
    calling = start(all_ready(locked), ANN, 11, now=NOON).table
    started = with_ranked(all_shown(called(calling)), RankedTables.PUBLIC)
    assert (started.ranked, started.ranked_bots) == (False, False)
    assert with_ranked(started, RankedTables.ALL).ranked


def test_a_racer_alone_counts_for_nothing() -> None:
    started = with_ranked(counting(ANN), RankedTables.ALL)
    assert (started.ranked, started.ranked_bots) == (False, False)

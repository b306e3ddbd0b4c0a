"""The demonstration: one deal for all bots, and a server that must answer.

`end_to_end/test_demo.py` runs it as a whole.
"""

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.bots.player import Report
from saratoga_client.cli.commands import run
from saratoga_client.cli.demo import LINE_UP, same_deal
from saratoga_client.problems import Exit, Problem
from saratoga_protocol import events

RACE = "mint-otter-42/1"


def saw(*columns: str) -> Report:
    """Return the report of a bot that was dealt these columns."""
    return Report(openings={RACE: events.View(columns=list(columns), stock=34)})


def test_the_common_deal_is_printed() -> None:
    line = same_deal([saw("7H", "2S")] * len(LINE_UP), RACE)
    assert line == "one deal for all 4: columns 7H 2S, 34 in the stock"


@pytest.mark.parametrize(
    "reports", [[saw("7H", "2S"), saw("2S", "7H")], [Report(), Report()], [saw("7H"), Report()]]
)
def test_bots_with_different_deals_or_none_are_a_failure(reports: list[Report]) -> None:
    with pytest.raises(Problem) as problem:
        same_deal(reports, RACE)
    assert problem.value.code == Exit.NOT_VERIFIED


def test_a_named_server_must_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["demo", "--server", "ws://127.0.0.1:1"]) == Exit.UNREACHABLE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "ws://127.0.0.1:1" in shown.err

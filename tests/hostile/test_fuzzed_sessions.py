"""Strangers who say anything at all, in any order: the house lives, and others' races go on.

Every frame is answered once, from the closed list, or ends the connection with a documented code; no
answer and no line of the log shows the inside of the house; nothing is left open behind them.
"""

from kit.besieged import besiege
from kit.server_process import running_server


async def test_a_race_goes_on_while_a_house_is_under_siege() -> None:
    async with running_server("--rate", "0", "--metrics-port", "0") as server_process:
        siege = await besiege(
            server_process, frames=4_000, guests=4, bare=250, races=1, seed="siege"
        )
    assert siege.frames >= 4_000
    assert siege.statuses.total() == 250
    assert {0, 101, 400} <= siege.statuses.keys()
    for report in siege.reports:
        assert len(report.outcomes) == 1
    answers = siege.tally.answers
    # they came far enough to do harm, if harm could be done
    assert {"Snapshot", "Done", "Leaderboard", "TableChanged"} <= answers.keys()
    assert {"bad_frame", "bad_command", "not_seated", "wrong_phase"} <= answers.keys()

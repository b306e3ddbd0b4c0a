"""The rows of the leaderboards and the page that specifies them."""

from pathlib import Path

from saratoga_protocol.leaderboard_rows import MOST_RIVALS

PAGE = Path(__file__).parents[2] / "protocol" / "README.md"


def test_the_page_says_up_to_which_number_rivals_are_counted() -> None:
    (row,) = (line for line in PAGE.read_text().splitlines() if line.startswith("| `rivals` |"))
    assert f"; {MOST_RIVALS}: that many or more" in row

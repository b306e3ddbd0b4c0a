"""A leaderboard page as plain lines. Pure."""

from collections.abc import Iterator

from saratoga_client.wording import counted, dollars, minutes_and_seconds, rivals, shown_name
from saratoga_protocol import events
from saratoga_protocol.events import LeaderboardRow


def leaderboard_lines(page: events.Leaderboard) -> Iterator[str]:
    """Return a heading and a line for every row of a leaderboard page."""
    who = "bots, " if page.bots else ""
    yield f"{page.game}, {page.ranking}, {who}{page.key}: {page.total} in all"
    for row in page.rows:
        yield _line(page, row)
    if page.me is not None and page.me not in page.rows:
        yield "you: " + _line(page, page.me)


def _line(page: events.Leaderboard, row: LeaderboardRow) -> str:
    name = shown_name(row.name, page.bots)
    if page.ranking == "bankroll":
        races = counted(row.races, "race")
        return f"{row.rank}. {name}: {dollars(row.value)} in {races}, against {rivals(row.rivals)}"
    # 0: no move raised the deal's count
    after = f" in {minutes_and_seconds(row.elapsed, tenths=True)}" if row.elapsed else ""
    return (
        f"{row.rank}. {name}: {row.value} banked{after}, {dollars(row.net)}, {row.race}, "
        f"against {rivals(row.rivals)}"
    )

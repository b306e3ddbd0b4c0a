"""Pages of leaderboards, as the server sends them."""

from saratoga_protocol import events
from saratoga_protocol.leaderboard_rows import MOST_RIVALS, LeaderboardRow

ANNA = LeaderboardRow(
    rank=1,
    player="a" * 16,
    name="Anna",
    value=31,
    net=105,
    elapsed=90_500,
    race="mint-otter-42/3",
    rivals=4,
)
BERT = LeaderboardRow(
    rank=2,
    player="b" * 16,
    name="Bert",
    value=12,
    net=10,
    elapsed=61_000,
    race="mint-otter-42/2",
    rivals=1,
)
BEST = events.Leaderboard(
    game="canfield",
    ranking="best",
    period="day",
    key="2026-09-01",
    bots=False,
    total=2,
    offset=0,
    rows=[ANNA, BERT],
    me=BERT,
)
BANKROLL = events.Leaderboard(
    game="lafayette",
    ranking="bankroll",
    period="all",
    key="all",
    bots=True,
    total=40,
    offset=0,
    rows=[
        LeaderboardRow(rank=1, player="o" * 16, name="Otto", value=-45, races=1, rivals=MOST_RIVALS)
    ],
)

"""Sample messages: one of every kind with all fields set, and some with as few fields as possible.

The golden bytes in `tests/protocol/golden` are made from these.
"""

from saratoga_protocol import commands, events
from saratoga_protocol.commands import Command
from saratoga_protocol.events import (
    Event,
    LeaderboardRow,
    Match,
    MatchResult,
    MatchRow,
    TableSummary,
)

CODE = "mint-otter-42"
RACE = "mint-otter-42/3"
DAY = "day/canfield/2026-09-01"
ANNA = "abcdefghijklmnop"
BERT = "qrstuvwxyz234567"
CARL = "carlcarlcarlcarl"
NOW = 1_788_278_400_000

COMMANDS: dict[str, Command] = {
    "hello": commands.Hello(
        id=1,
        token="5a" * 32,
        name="Anna",
        bot=True,
        level="strong",
        legal=True,
        client="saratoga 0.1.0",
    ),
    "hello, at its shortest": commands.Hello(id=1, token="5a" * 32),
    "claim_name": commands.ClaimName(id=2, name="Zoë"),
    "create_table": commands.CreateTable(
        id=3, game="lady-palk", cap=5, seats=4, public=True, races=5, key="0a" * 16
    ),
    "create_table, at its shortest": commands.CreateTable(id=3, game="canfield"),
    "join_table": commands.JoinTable(id=4, table=CODE, seat=False),
    "join_table, at its shortest": commands.JoinTable(id=4, table=CODE),
    "leave_table": commands.LeaveTable(id=6, table=CODE),
    "change_settings": commands.ChangeSettings(
        id=9,
        table=CODE,
        commitment="c0" * 32,
        game="caprice",
        cap=0,
        seats=2,
        public=False,
        races=3,
    ),
    "change_settings, at its shortest": commands.ChangeSettings(id=9, table=CODE),
    "kick": commands.Kick(id=10, table=CODE, player=BERT, epoch=7),
    "allow_ready": commands.AllowReady(id=27, table=CODE, player=BERT),
    "lock_table": commands.LockTable(id=25, table=CODE, race=RACE, locked=False),
    "lock_table, at its shortest": commands.LockTable(id=25, table=CODE),
    "ready": commands.Ready(id=11, table=CODE, commitment="c0" * 32, nonce_hash="d1" * 32),
    "not_ready": commands.NotReady(id=12, table=CODE),
    "start": commands.Start(id=13, table=CODE, race=RACE),
    "reveal": commands.Reveal(id=14, table=CODE, commitment="c0" * 32, nonce="e2" * 16),
    "move": commands.MakeMove(id=15, race=RACE, after=12, move="t3>t5:4"),
    "cash_out": commands.CashOut(id=16, race=RACE, after=13),
    "end_race": commands.EndRace(id=24, race=RACE),
    "next_race": commands.NextRace(id=17, table=CODE, race=RACE),
    "react": commands.React(id=28, table=CODE, reaction="gg"),
    "hand_over": commands.HandOver(id=29, table=CODE, player=BERT),
    "add_bot": commands.AddBot(id=30, table=CODE, level="strong", key="d5" * 16),
    "offer_bots": commands.OfferBots(id=31, levels=["weak", "strong"], free=3),
    "list_tables": commands.ListTables(id=18, follow=True),
    "get_leaderboard": commands.GetLeaderboard(
        id=19,
        game="canfield",
        ranking="bankroll",
        period="week",
        bots=True,
        offset=40,
        limit=10,
        around_me=True,
        follow=True,
    ),
    "get_leaderboard, at its shortest": commands.GetLeaderboard(id=19, game="canfield"),
    "get_record": commands.GetRecord(id=22, race=RACE),
    "get_par": commands.GetPar(id=35, race=RACE),
    "enter_open": commands.EnterOpen(id=32, open=DAY),
    "create_challenge": commands.CreateChallenge(id=33, game="canfield", race=RACE, key="5e" * 16),
    "get_record of an open race": commands.GetRecord(id=31, race=DAY),
    "get_open": commands.GetOpen(id=34, open="abcdefghijklmnop"),
    "heartbeat": commands.Heartbeat(id=23),
    "heartbeat of an active player": commands.Heartbeat(id=24, active=True),
    "heartbeat with the largest id": commands.Heartbeat(id=2**53 - 1),
}

SETTINGS = events.TableSettings(game="canfield", cap=10, seats=16, public=True)


def racer(
    player: str, name: str = "", bot: bool = False, nonce_hash: str = "d1" * 32
) -> events.Racer:
    """Return a racer, by default with the player id as the name."""
    return events.Racer(player=player, name=name or player, bot=bot, nonce_hash=nonce_hash)


TABLE = events.Table(
    code=CODE,
    version=17,
    host=ANNA,
    phase="running",
    settings=SETTINGS,
    race=RACE,
    rules=2,
    commitment="c0" * 32,
    seats=[
        events.Seat(
            player=ANNA,
            name="Anna",
            bot=True,
            level="strong",
            ready=True,
            connected=False,
            races=2,
            wins=1,
            net=-30,
        ),
        events.Seat(player=BERT, name="Zoë", epoch=7, owner=True),
    ],
    racers=[racer(ANNA, "Anna"), racer(CARL, "Carl", bot=True)],
    reveal_by=NOW - 2000,
    start_at=NOW,
    deadline=NOW + 600_000,
    ranked=True,
    notice="Anna is host now.",
    locked=True,
    last_racer=ANNA,
    end_from=NOW + 120_000,
    votes=[ANNA],
    bots=["weak", "strong"],
)

MATCH = Match(
    races=3,
    finished=["mint-otter-42/1", "mint-otter-42/2"],
    rows=[
        MatchRow(
            player=ANNA,
            name="Anna",
            bot=True,
            results=[
                MatchResult(race="mint-otter-42/1", place=2, net=-15),
                MatchResult(race="mint-otter-42/2", place=1, net=40),
            ],
        ),
        MatchRow(
            player=BERT,
            name="Zoë",
            results=[MatchResult(race="mint-otter-42/1", place=1, net=-5)],
        ),
    ],
)

GATHERING = events.Table(
    code=CODE,
    version=1,
    host=ANNA,
    phase="gathering",
    settings=SETTINGS,
    race="mint-otter-42/1",
    rules=2,
    commitment="c0" * 32,
    seats=[events.Seat(player=ANNA, name="Anna")],
)

CALL = events.Table(
    code=CODE,
    version=4,
    host=ANNA,
    phase="call",
    settings=SETTINGS,
    race="mint-otter-42/2",
    rules=2,
    commitment="c1" * 32,
    seats=[events.Seat(player=BERT, name="Zoë", voids=1, blocked=True)],
    call_until=NOW - 3000,
    reveal_by=NOW - 500,
    start_at=NOW,
    previous=events.Ended(
        race="mint-otter-42/1", digest="ab" * 32, reason="nonce-missing", blamed=[BERT]
    ),
)

BOARD = events.BoardView(
    race=RACE,
    count=12,
    view=events.View(
        stock=22,
        waste="4D7HTS",
        reserve=13,
        reserve_top="6C",
        up=[1, 0, 0, 0],
        down=[0, 2, 0, 0],
        columns=["5D", "", "QSJH", "2S"],
        base=10,
        passes=2,
    ),
    banked=3,
    net=-35,
    state="racing",
    legal=["draw", "w>t2"],
    head="0" * 16,
)

FACE_DOWN_BOARD = events.BoardView(
    race=RACE,
    count=0,
    view=events.View(
        stock=24,
        up=[0, 0, 0, 0],
        columns=["5D", "JC", "2H", "9S", "KD", "9C", "AH"],
        face_down=[0, 1, 2, 3, 4, 5, 6],
    ),
    banked=0,
    net=-52,
    state="racing",
    head="0" * 16,
)

OUTCOME = events.Outcome(
    race=RACE,
    game="canfield",
    results=[
        events.Result(
            player=ANNA,
            place=1,
            banked=9,
            net=-5,
            state="cash-out",
            moves=31,
            reached=44_210,
            ended=61_804,
            head="0" * 16,
        ),
        events.Result(
            player=BERT,
            place=2,
            banked=9,
            net=-5,
            state="stuck",
            moves=40,
            reached=45_110,
            ended=90_001,
            head="0" * 16,
        ),
    ],
    seed="0f" * 32,
    nonces={ANNA: "e2" * 16, BERT: "f3" * 16},
    digest="ab" * 32,
    ranked=True,
)

STANDINGS = [
    events.Standing(player=ANNA, place=1, banked=3, net=-35, state="racing", head="0" * 16),
    events.Standing(player=BERT, place=2, banked=1, net=-45, state="cash-out", head="0" * 16),
]

ROW = LeaderboardRow(
    rank=1,
    player=ANNA,
    name="Anna",
    value=31,
    net=105,
    elapsed=402_118,
    race=RACE,
    races=12,
    rivals=3,
)

EVENTS: dict[str, Event] = {
    "welcome": events.Welcome(
        re=1,
        player=ANNA,
        name="Anna",
        bot=True,
        now=NOW,
        server="saratoga-server 0.1.0",
        node="n1",
        games=["canfield", "caprice"],
        table=CODE,
        owner=True,
        durability="fast",
    ),
    "welcome to one without a name": events.Welcome(
        re=1,
        player=ANNA,
        name=None,
        bot=False,
        now=NOW,
        server="saratoga-server 0.1.0",
        node="n1",
        games=["canfield"],
    ),
    "name_claimed": events.NameClaimed(re=2, name="Zoë"),
    "done": events.Done(re=11),
    "refused": events.Refused(
        re=15,
        code="stale_move",
        message="That move was meant for another position. Look again.",
        retry=True,
        wait=1500,
        board=BOARD,
    ),
    "refused, not knowing what": events.Refused(
        code="bad_frame", message="That frame could not be read."
    ),
    "snapshot": events.Snapshot(
        re=5,
        table=TABLE,
        now=NOW,
        board=BOARD,
        standings=STANDINGS,
        outcome=OUTCOME,
        match=MATCH,
    ),
    "snapshot, at its shortest": events.Snapshot(table=GATHERING, now=NOW),
    "table_changed": events.TableChanged(table=GATHERING, now=NOW),
    "table_changed, in the call after a voided countdown": events.TableChanged(table=CALL, now=NOW),
    "match": events.MatchChanged(table=CODE, match=MATCH),
    "match, none": events.MatchChanged(table=CODE, match=None),
    "board": events.BoardChanged(
        re=15, board=BOARD, place=11, entries=["44210 31 draw", "44210 32 stuck"]
    ),
    "board, dealt": events.BoardChanged(
        board=BOARD, start_at=NOW, deadline=NOW + 600_000, now=NOW + 3
    ),
    "board, dealt with face-down cards": events.BoardChanged(
        board=FACE_DOWN_BOARD, start_at=NOW, deadline=NOW + 600_000, now=NOW + 3
    ),
    "board, ended": events.BoardChanged(board=BOARD, place=12, entries=["90001 57 out-of-time"]),
    "standings": events.Standings(race=RACE, standings=STANDINGS),
    "race_over": events.RaceOver(outcome=OUTCOME),
    "tables": events.Tables(
        re=18,
        tables=[
            TableSummary(
                code=CODE,
                game="canfield",
                cap=10,
                host="Anna",
                phase="gathering",
                seated=3,
                seats=16,
            )
        ],
    ),
    "leaderboard": events.Leaderboard(
        re=19,
        game="canfield",
        ranking="best",
        period="week",
        key="2026-W36",
        bots=True,
        total=77,
        offset=0,
        rows=[ROW],
        me=ROW,
    ),
    "par": events.Par(re=35, race=RACE, banked=2, moves=["draw", "w>up"]),
    "record": events.Record(re=22, race=RACE, text="saratoga record 1\n"),
    "alive": events.Alive(re=23, now=NOW),
    "alive, unasked": events.Alive(now=NOW),
    "reacted": events.Reacted(table=CODE, player=ANNA, reaction="again"),
    "open_race": events.OpenRaceShown(
        re=34,
        open=events.OpenRace(
            id=DAY,
            kind="day",
            game="canfield",
            rules=2,
            cap=10,
            opened=NOW,
            closes=NOW + 86_400_000,
            commitment="c0" * 32,
            entrants=2,
            results=[
                events.OpenResult(
                    player=ANNA,
                    name="Anna",
                    bot=True,
                    banked=9,
                    net=-5,
                    state="cash-out",
                    elapsed=61_804,
                )
            ],
            counts=[0, 1, 1],
            digest="ab" * 32,
        ),
        days=[events.Day(open="day/canfield/2026-09-02", commitment="c1" * 32)],
    ),
    "announcement": events.Announcement(text="The server restarts in a minute."),
    "bot_wanted": events.BotWanted(table=CODE, level="strong", key="d5" * 16),
    "seat_lost": events.SeatLost(table=CODE, reason="The host has kicked you from the table."),
}

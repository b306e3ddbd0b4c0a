"""Sample table views and events of a race between a person and a bot."""

from msgspec.structs import replace

from kit.scripted_server import NOON, PLAYER, RACE, snapshot, table
from saratoga_client.session.table_view import TableView, first_view
from saratoga_protocol import events

RIVAL = "qrstuvwxyz234567"
SEATS = [
    events.Seat(player=PLAYER, name="Anna"),
    events.Seat(player=RIVAL, name="Otto", bot=True),
]
STANDINGS = [
    events.Standing(player=RIVAL, place=1, banked=14, net=20, state="racing"),
    events.Standing(player=PLAYER, place=2, banked=11, net=5, state="cashed out"),
]


def running(**changes: object) -> TableView:
    at_table = replace(table(phase="running"), seats=SEATS, deadline=NOON + 90_000, **changes)
    return first_view(replace(snapshot(), table=at_table, standings=STANDINGS))


def outcome() -> events.Outcome:
    results = [
        events.Result(
            player=standing.player,
            name="Otto" if standing.player == RIVAL else "Anna",
            bot=standing.player == RIVAL,
            place=standing.place,
            banked=standing.banked,
            net=standing.net,
            state=standing.state,
            moves=9,
        )
        for standing in STANDINGS
    ]
    return events.Outcome(
        race=RACE, game="canfield", results=results, seed="00", nonces={}, digest="d1"
    )

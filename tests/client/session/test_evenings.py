"""Random evenings raise an alarm if and only if the server has lied.

They are made of a real one: with lost events, reconnections, restarts, losses, other devices, older clients.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec import structs

from kit.evenings import Client, Item, Told
from kit.fact_lies import LAST, LIES, published, race_of, tables
from kit.races import promised, settled
from saratoga_client.session.facts import facts
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.events import Event
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.records.facts import Key, implied
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord, digest_of, parse_record
from saratoga_rules.records.verify import verify

Evening = Mapping[str, Told]


@dataclass
class Walk:
    """What happens to one client in an evening: parts of what it is told, with what happens between them."""

    told: Told
    parts: list[tuple[Item, ...]]
    is_restarted: bool = False
    """Whether the program ends between two parts, and is started again."""
    has_loss: bool = False
    """Whether the server says between the parts that it has lost data."""
    has_outage: bool = False
    """Whether the records come only at the end."""


def snapshot_after(told: Told, count: int) -> Item:
    """Return the snapshot that an honest server sends after so many of the items."""
    table, board, rows, outcome, match = None, None, {}, None, None
    for item in told.items[:count]:
        match item.event:
            case events.Snapshot() as shown:
                table, board = shown.table, shown.board
            case events.TableChanged(table=changed):
                table = changed
            case events.BoardChanged(board=shown_board):
                board = shown_board
            case events.Standings(race=race, standings=standings):
                rows[race] = standings
            case events.RaceOver(outcome=announced):
                outcome = announced
            case events.MatchChanged(match=changed_match):
                match = changed_match
            case _:
                pass
    assert table is not None
    is_running = table.phase == "running"
    snapshot = events.Snapshot(
        table=table,
        now=0,
        board=board if is_running and board is not None and board.race == table.race else None,
        standings=rows.get(table.race, []) if is_running else [],
        outcome=outcome if table.phase == "over" else None,
        match=match,
    )
    return Item(snapshot)


def table_after(told: Told, count: int) -> events.Table:
    snapshot = snapshot_after(told, count).event
    assert isinstance(snapshot, events.Snapshot)
    return snapshot.table


# What may happen to an honest client


def undisturbed(told: Told, chance: Random) -> Walk:
    return Walk(told, [told.items])


def events_lost(told: Told, chance: Random) -> Walk:
    """Some events without an answer never come."""
    kept = [
        item
        for item in told.items
        if item.command is not None
        or isinstance(item.event, events.Snapshot)
        or chance.random() < 0.9
    ]
    return Walk(told, [tuple(kept)])


def reconnected(told: Told, chance: Random) -> Walk:
    """The connection is lost and restored, up to three times."""
    places = sorted(chance.sample(range(2, len(told.items)), 2 * chance.randint(1, 2)))
    parts: list[tuple[Item, ...]] = []
    first: tuple[Item, ...] = ()
    begin = 0
    for lost, latest in zip(places[::2], places[1::2], strict=True):
        back = min(latest, lost + 5)
        parts.append((*first, *told.items[begin:lost]))
        begin, first = back, (snapshot_after(told, back),)
    return Walk(told, [*parts, (*first, *told.items[begin:])])


def restarted(told: Told, chance: Random) -> Walk:
    """The program ends, and is started again."""
    return replace(reconnected(told, chance), is_restarted=True)


def on_another_device(told: Told, chance: Random) -> Walk:
    """Another device plays a part of the evening, ready marks and moves included."""
    lost = chance.randrange(2, len(told.items) - 30)
    back = lost + chance.randint(5, 15)
    return Walk(told, [told.items[:lost], (snapshot_after(told, back), *told.items[back:])])


def loss_announced(told: Told, chance: Random) -> Walk:
    """A server at `fast` loses entries of a running race, says so, and goes on from there."""
    told = replace(told, durability="fast")
    race = race_of(told, LAST)
    begin = max(
        index
        for index, item in enumerate(told.items)
        if index < 5 or (isinstance(item.event, events.BoardChanged) and item.event.start_at)
    )  # the last deal
    running = [
        index
        for index, item in enumerate(told.items)
        if getattr(item.event, "race", "") == race
        or (isinstance(item.event, events.BoardChanged) and item.event.board.race == race)
    ]
    running = [index for index in running if index > begin]
    if len(running) < 6:
        return undisturbed(told, chance)
    lost = chance.choice(running[2:-2])
    known = chance.choice([index for index in running if lost - 15 < index < lost] or [running[1]])
    later = with_later_entries(told, race, known)
    return Walk(
        later,
        [told.items[:lost], (snapshot_after(later, known), *later.items[known:])],
        has_loss=chance.random() < 0.8,
        is_restarted=chance.random() < 0.2,
    )


def with_later_entries(told: Told, race: str, count: int) -> Told:
    """Return what is told if all entries after so many items are made five seconds later."""
    record = parse_record(told.records[race])
    numbers = [
        int(item.event.entries[-1].split(" ")[1])
        for item in told.items[:count]
        if isinstance(item.event, events.BoardChanged)
        if item.event.board.race == race and item.event.entries
    ]
    first = max(numbers, default=0)
    # an entry that this client has not heard of may be lost as well
    racers = [
        replace(
            racer,
            log=tuple(
                replace(line, at=line.at + 5000) if line.number > first else line
                for line in racer.log
            ),
        )
        for racer in record.racers
    ]
    changed = settled(replace(record, racers=tuple(racers)))
    records = {each: parse_record(text) for each, text in told.records.items()}
    records[race] = changed
    return published(with_entries_of(told, record, changed), records)


def with_entries_of(told: Told, old: RaceRecord, new: RaceRecord) -> Told:
    """Return what is told if the logs of a race are these, move by move."""
    key = deal_key(bytes.fromhex(old.seed), old.race_id, old.nonces)
    heads_now: dict[str, str] = {}
    for was, now in zip(old.racers, new.racers, strict=True):
        chains = [heads(key, old.race_id, was.player, each.log) for each in (was, now)]
        heads_now.update(zip(*chains, strict=True))

    def changed(event: Event) -> Event:
        if isinstance(event, events.BoardChanged) and event.board.race == old.race_id:
            log = new.racer(told.player).log
            return structs.replace(
                event,
                board=structs.replace(
                    event.board, head=heads_now.get(event.board.head, event.board.head)
                ),
                entries=[str(log[event.place - 1 + index]) for index in range(len(event.entries))],
            )
        if isinstance(event, events.Standings) and event.race == old.race_id:
            rows = [
                structs.replace(row, head=heads_now.get(row.head, row.head))
                for row in event.standings
            ]
            return structs.replace(event, standings=rows)
        return event

    return told.edited(changed)


def older_client(told: Told, chance: Random) -> Walk:
    """The server plays by newer rules than this client knows."""
    records = {
        race: promised(replace(parse_record(text), rules_version=99))
        for race, text in told.records.items()
    }
    commitments = {
        parse_record(told.records[race]).commitment: each.commitment
        for race, each in records.items()
    }

    def change(table: events.Table) -> events.Table:
        made = commitments.get(table.commitment, table.commitment)
        return structs.replace(table, rules=99, commitment=made)

    edited = tables(change)(told)
    newer = published(edited, records)
    return Walk(newer, [newer.items])


def outage(told: Told, chance: Random) -> Walk:
    """The store is away, so that the records come late."""
    return replace(reconnected(told, chance), has_outage=True)


def restored(told: Told, chance: Random) -> Walk:
    """The server's data are restored from a backup, and the table goes on with a much higher number."""
    ended = chance.randrange(len(told.items) // 2, len(told.items))
    backup = chance.randrange(ended // 2, ended)
    table = table_after(told, backup)
    code, _, number = table.race.rpartition("/")
    gathering = structs.replace(
        table,
        phase="gathering",
        race=f"{code}/{int(number) + 1001}",
        commitment="ab" * 32,
        racers=[],
        start_at=0,
        deadline=0,
        version=table.version + 1000,
    )
    snapshot = Item(events.Snapshot(table=gathering, now=0))
    kept = [race for race in told.records if int(race.rpartition("/")[2]) < int(number)]
    told = replace(told, records={race: told.records[race] for race in kept})
    return Walk(told, [told.items[:ended], (snapshot,)], is_restarted=True)


def renamed(told: Told, chance: Random) -> Walk:
    """Somebody takes another name in a race, and somebody leaves."""
    player = chance.choice([seat.player for seat in table_after(told, 5).seats])
    since = chance.randrange(10, 60)

    def change(table: events.Table) -> events.Table:
        if table.version < since:
            return table
        seats = [
            structs.replace(seat, name="Robert") if seat.player == player else seat
            for seat in table.seats
        ]
        return structs.replace(table, seats=seats)

    edited = tables(change)(told)
    return Walk(edited, [edited.items])


KINDS: list[Callable[[Told, Random], Walk]] = [
    undisturbed,
    events_lost,
    reconnected,
    restarted,
    on_another_device,
    loss_announced,
    older_client,
    outage,
    restored,
    renamed,
]


async def alarmed(walk: Walk, folder: Path) -> set[str]:
    """Tell a client an evening; return the kinds of the facts and checks that contradict it."""
    client = Client(walk.told, Witness(folder))
    found: set[str] = set()
    for number, part in enumerate(walk.parts):
        if number and walk.has_loss:
            client.connection.losses += 1
        if number and walk.is_restarted:
            client.witness = Witness(folder)
            client.restarted()
        await client.hear(*part)
        found |= {finding.key[0] for finding in client.findings}
        if number == len(walk.parts) - 1 or not walk.has_outage:
            for proof in (await client.check()).values():
                found |= {finding.key[0] for finding in proof.findings}
                found |= {check.name for check in proof.checks if check.is_contradicted}
    return found


def is_told(walk: Walk) -> bool:
    """Return whether what a client hears contradicts itself or the records, by sets of values and no witness."""
    player, stated = walk.told.player, dict[Key, set[str]]()
    for number, part in enumerate(walk.parts):
        if number and walk.has_loss:
            stated.clear()
        for item in part:
            for key, value in facts(item.event, player):
                if value is None and key in stated:
                    return True
                if value is not None:
                    stated.setdefault(key, set()).add(value)
    listed = {key[1] for key in stated if key[0] == "terms"}
    for race in listed & walk.told.records.keys():
        text = walk.told.records[race]
        record = parse_record(text)
        known = implied(record, digest_of(text), player)
        found = {key: known.get(key, "nothing") for key in stated if key[1] == race}
        if verify(record).is_contradicted or any(
            value is not None and {value} != stated[key] for key, value in found.items()
        ):
            return True
    return any(len(values) > 1 for key, values in stated.items() if key[1] in listed)


async def tell(evening: Evening, count: int, *, lie: bool, seed: str) -> Counter[str]:
    """Tell random evenings; return how many raised an alarm, and those that should not have, or should have.

    A lie about what a client has missed is told to nobody.
    """
    said: Counter[str] = Counter()
    for number in range(count):
        chance = Random(f"{seed} {number}")
        name = chance.choice([each for each, one in LIES.items() if one.welcomed]) if lie else ""
        told = evening[LIES[name].client if lie else chance.choice(list(evening))]
        kind = chance.choice(KINDS)
        if name in ("own entries lost", "runs again after its result") and kind is loss_announced:
            kind = undisturbed  # at `fast` that is no lie
        walk = kind(LIES[name].edit(told) if lie else told, chance)
        with TemporaryDirectory() as folder:
            found = await alarmed(walk, Path(folder))
        if lie and not found and not is_told(walk):
            said["not told"] += 1
            continue
        said["alarmed" if found else "not alarmed"] += 1
        if bool(found) != lie:
            said[f"wrong: {kind.__name__} {name} {sorted(found)}"] += 1
    return said


HONEST = 40
WITH_A_LIE = 40


async def test_honest_evenings_raise_no_alarm(evening: Evening) -> None:
    said = await tell(evening, HONEST, lie=False, seed="few")
    assert said == {"not alarmed": HONEST}


async def test_evenings_with_one_lie_raise_the_alarm(evening: Evening) -> None:
    said = await tell(evening, WITH_A_LIE, lie=True, seed="few")
    assert said["alarmed"] > WITH_A_LIE * 0.8
    assert said["not alarmed"] == 0, said

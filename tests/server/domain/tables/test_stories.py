"""What commands and time do to a table, as stories of one table each, told in `stories.txt`.

A story is a sentence, and indented steps behind `;`. It begins with players at a table in some
phase, `A` to `D`, a bot with a star, and settings: `counting A B* cap=3`. Then come

    @4500               the time, in milliseconds after noon
    A leave             a command or what happens to a player, with arguments; see `ACTS`
    sweep               the timers that are due, `sweep dead=node-1` with nodes that are dead, `back=5` with
                        the time at which the store was found away; `served` applies each timer when it is due
    A leave !code text  the same is refused, with that code and a sentence that has this text in it
    A leave = same      the same changes nothing
    -> host=B ready=A   what is so now; see `FACTS`; `says TEXT` is the whole notice, and `says ...TEXT` a part of it
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    DAN,
    NAMES,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_ready,
    all_shown,
    called,
    calling,
    counting,
    nonce,
    nonce_hash,
    outcome,
    over,
    running,
    seated,
    table_settings,
)
from saratoga_rules.records.verify import verify
from saratoga_server.domain import tables
from saratoga_server.domain.tables import CommandRejected, RankedTables, TableState
from saratoga_server.domain.tables.countdown import with_ranked
from saratoga_server.domain.tables.seating import force_leave
from saratoga_server.ports import Millis

LETTERS = {"A": ANN, "B": BEN, "C": CLEO, "D": DAN}
PHASES: dict[str, Callable[..., TableState]] = {
    "seated": seated,
    "ready": lambda *players, **more: all_ready(seated(*players, **more)),
    "calling": calling,
    "counting": counting,
    "running": running,
    "over": lambda *players, settings, bots: over(*players, settings=settings),
}


def number(text: str) -> Any:
    return (
        int(text)
        if text.lstrip("-").isdigit()
        else text == "yes"
        if text in ("yes", "no")
        else text
    )


def options(words: list[str]) -> dict[str, Any]:
    return {key: number(value) for key, value in (word.split("=") for word in words)}


class Story:
    """A table and the time, changed by the steps of a story."""

    def __init__(self, opening: str) -> None:
        phase, *words = opening.split()
        seats = [word for word in words if "=" not in word]
        players = [LETTERS[word[0]] for word in seats]
        bots = tuple(LETTERS[word[0]] for word in seats if word.endswith("*"))
        given = {"game": "canfield", **options([word for word in words if "=" in word])}
        settings = table_settings(**given)
        self.now = NOON
        self.table = PHASES[phase](*players, settings=settings, bots=bots)
        self.deal = self.table.commitment

    def step(self, step: str) -> None:
        what, _, refusal = step.partition(" !")
        what, same, _ = what.partition(" = same")
        before = self.table
        if what.startswith("@"):
            self.now = after(int(what[1:]))
        elif what.startswith("->"):
            self.check(what[2:].strip())
        elif refusal:
            code, _, text = refusal.partition(" ")
            with pytest.raises(CommandRejected) as refused:
                self.act(what)
            assert refused.value.code == code
            assert text in refused.value.detail
        else:
            self.table = self.act(what)
            assert (self.table is before) == bool(same) or what == "served", what
        if (voided := self.table.voided) is not None and self.table is not before:
            assert verify(voided.record).ok

    def act(self, what: str) -> TableState:
        who, *words = what.split()
        if who == "sweep":
            given = options(words)
            dead, back = str(given.get("dead", "")), int(given.get("back", 0))
            away = Millis(NOON + back if back else 0)
            return tables.elapse(self.table, self.now, OTHER_SEED, dead.split(), away)
        if who == "served":
            return self.served()
        verb, *words = words
        return ACTS[verb](self, LETTERS[who], *words)

    def served(self) -> TableState:
        """Return the table after all timers that run out before now, each applied in time."""
        table = self.table
        while (at := tables.due(table)) is not None and at < self.now:
            if (
                swept := tables.elapse(table, at, OTHER_SEED)
            ) is table:  # the race is over its time
                break
            table = swept
        return table

    def named(self, players: object) -> str:
        back = {player: letter for letter, player in LETTERS.items()}
        return ",".join(back[player] for player in players) or "none"  # type: ignore[attr-defined]

    def check(self, facts: str) -> None:
        facts, has_notice, said = facts.partition("says ")
        if has_notice:
            notice = self.table.notice
            assert said[3:] in notice if said.startswith("...") else notice == said
        for name, value in (fact.split("=") for fact in facts.split()):
            assert str(FACTS[name](self)) == value, (name, str(self.table))


def ready(story: Story, player: str) -> TableState:
    table, hashed = story.table, nonce_hash(player)
    return tables.ready(
        table, player, commitment=table.commitment, nonce_hash=hashed, now=story.now
    )


def finish(story: Story, _: str, *words: str) -> TableState:
    """End the race with these nets, and with `away=AB` who gave no sign for too long."""
    away = [LETTERS[each] for word in words if word[:5] == "away=" for each in word[5:]]
    nets = {LETTERS[word[0]]: int(word[2:]) for word in words if word[:5] != "away="}
    over = outcome(story.table, nets or None)
    return tables.finish(story.table, over, now=story.now, away=away)


def raced(story: Story, player: str, *words: str) -> TableState:
    """Call the next race, and let everyone who sits there race to its end."""
    if story.table.phase == "over":
        story.table = tables.next_race(story.table, player, now=story.now, fresh_seed=OTHER_SEED)
    table = called(tables.start(all_ready(story.table), player, now=NOON))
    story.table = tables.elapse(all_shown(table), table.start_at, OTHER_SEED)
    return finish(story, player, *words)


def reveal(story: Story, player: str, whose: str = "") -> TableState:
    shown = nonce(LETTERS[whose] if whose else player)
    return tables.reveal(story.table, player, nonce=shown, now=story.now)


def settings(story: Story, player: str, *words: str) -> TableState:
    given = options(list(words))
    return tables.change_settings(
        story.table,
        player,
        **given,
        now=story.now,
        fresh_seed=OTHER_SEED,
    )


def away(story: Story, player: str) -> TableState:
    seat = story.table.seat(player)
    assert seat is not None
    return tables.disconnect(story.table, player, seat.epoch, now=story.now)


def end(story: Story, player: str, race: str = "1", *, ended: bool = False) -> TableState:
    named, now = f"{story.table.code}/{race}", story.now
    return tables.end_race(story.table, player, race_id=named, has_ended=ended, now=now)


ACTS: dict[str, Callable[..., TableState]] = {
    "join": lambda s, p, node=NODE: tables.join(s.table, p, NAMES[p], node=node, now=s.now),
    "leave": lambda s, p: tables.leave(s.table, p, now=s.now, fresh_seed=OTHER_SEED),
    "removed": lambda s, p: force_leave(s.table, p, now=s.now, fresh_seed=OTHER_SEED),
    "away": away,
    "kick": lambda s, p, o, owner="": tables.kick(
        s.table,
        p,
        target=LETTERS[o],
        owner=LETTERS.get(owner, ""),
        now=s.now,
        fresh_seed=OTHER_SEED,
    ),
    "hand": lambda s, p, o: tables.hand_over(s.table, p, target=LETTERS[o], now=s.now),
    "back": lambda s, p: tables.host_again(s.table, p, s.now),
    "lock": lambda s, p: tables.lock(s.table, p, locked=True, now=s.now),
    "unlock": lambda s, p: tables.lock(s.table, p, locked=False, now=s.now),
    "named": lambda s, p, name: tables.rename(s.table, p, name),
    "settings": settings,
    "ready": ready,
    "unready": lambda s, p: tables.not_ready(s.table, p, now=s.now),
    "start": lambda s, p: tables.start(s.table, p, now=s.now),
    "reveal": reveal,
    "allow": lambda s, p, o: tables.allow_ready(s.table, p, target=LETTERS[o], now=s.now),
    "last": lambda s, p: tables.last_board(s.table, p, s.now),
    "end": end,
    "ended": lambda s, p: end(s, p, ended=True),
    "finish": finish,
    "raced": raced,
    "next": lambda s, p: tables.next_race(s.table, p, now=s.now, fresh_seed=OTHER_SEED),
    "silent": lambda s, p, also="": tables.host_passed_on(
        s.table, {p, *(LETTERS[each] for each in also)}, s.now
    ),
}


def time(name: str) -> Callable[[Story], object]:
    def read(story: Story) -> object:
        at = getattr(story.table, name)
        return at - NOON if at else "none"

    return read


def seats(name: str) -> Callable[[Story], str]:
    return lambda s: s.named(seat.player for seat in s.table.seats if getattr(seat, name))


def counts(name: str) -> Callable[[Story], str]:
    return lambda s: ",".join(str(getattr(seat, name)) for seat in s.table.seats)


def ranked(which: RankedTables) -> Callable[[Story], str]:
    def read(story: Story) -> str:
        table = with_ranked(story.table, which)
        return ("people" if table.ranked else "") + ("bots" if table.ranked_bots else "") or "none"

    return read


FACTS: dict[str, Callable[[Story], object]] = {
    "phase": lambda s: s.table.phase.value,
    "race": lambda s: s.table.race,
    "host": lambda s: s.named([s.table.host] if s.table.host else []),
    "seats": lambda s: s.named(seat.player for seat in s.table.seats),
    "ready": seats("is_ready"),
    "present": seats("is_connected"),
    "racers": lambda s: s.named(s.table.racers),
    "names": lambda s: ",".join(racer.name for racer in s.table.racers.values()),
    "left": lambda s: ",".join(f"{s.named([p])}:{state}" for p, state in s.table.left.items()) or "none",
    "votes": lambda s: s.named(s.table.votes),
    "kicked": lambda s: s.named(s.table.kicked),
    "locked": lambda s: "yes" if s.table.locked else "no",
    "deal": lambda s: "same" if s.table.commitment == s.deal else "new",
    "reason": lambda s: s.table.previous.reason if s.table.previous else "none",
    "blamed": lambda s: s.named(s.table.previous.blamed if s.table.previous else []),
    "voids": lambda s: s.named(s.table.voids),
    "blocked": lambda s: s.named(s.table.blocked),
    "again": lambda s: "yes" if s.table.is_begun_again else "no",
    "due": lambda s: "none" if (at := tables.due(s.table)) is None else at - NOON,
    **{each.partition("_")[0]: time(each) for each in ("reveal_by", "start_at", "deadline", "touched")},
    **{each.partition("_")[0]: time(each) for each in ("call_until", "waited_since")},
    "absent": lambda s: ",".join(str(max(0, seat.absent_since - NOON)) for seat in s.table.seats),
    "wins": counts("wins"),
    "nets": counts("net"),
    "node": lambda s: s.table.seats[1].node,
    "match": lambda s: ",".join(race.rpartition("/")[2] for race in s.table.match.finished)
    if s.table.match else "none",
    "length": lambda s: s.table.settings.races,
    "counts": ranked(RankedTables.PUBLIC),
    "counts_privately": ranked(RankedTables.ALL),
}  # fmt: skip


def stories() -> list[tuple[str, str]]:
    text = Path(__file__).with_name("stories.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(\S.*):\n((?: {4}.*\n)+)", text, re.MULTILINE)
    return [(title, " ".join(told.split())) for title, told in found]


STORIES = stories()


@pytest.mark.parametrize("told", [told for _, told in STORIES], ids=[title for title, _ in STORIES])
def test_a_story(told: str) -> None:
    opening, *steps = told.split("; ")
    story = Story(opening)
    for step in steps:
        story.step(step)

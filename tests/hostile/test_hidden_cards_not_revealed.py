"""No sequence of commands, legal or not, reveals a card that its player has not turned up.

A script of unusual commands runs on deals that differ only in hidden cards; tokens, seeds, codes and time
are the same. Until one of those cards is turned up, every byte must be the same: for both racers, for a
player without a seat, on the HTTP pages, in the metrics and in the log.
"""

from random import Random
from typing import Any

import msgpack
import pytest

from kit.secrecy import Slot, is_up, leak, rearranged, slots
from kit.secret_commands import Run, check_same, run_script, scripted
from kit.tables import CODE
from saratoga_protocol.events import Refused
from saratoga_protocol.refusals import REASONS
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position

STEPS = 90


@pytest.fixture(autouse=True)
def _nothing_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.handlers.seats.table_code", lambda chance: CODE)
    monkeypatch.setattr("saratoga_server.app.secrets.token_hex", lambda count: "00" * count)


def dealt(game: str, number: int) -> Position:
    return deal_for_key(GAMES[game], practice_key(f"odd {number}"))


def turned_up_at(run: Run, slot: Slot) -> int | None:
    """Return the first step after which some player has turned up that card."""
    steps = range(len(run.made))
    up = (s for s in steps if any(is_up(slot, way) for way in run.ways(s).values()))
    return next(up, None)


@pytest.mark.parametrize("game", GAMES)
async def test_cards_not_turned_up_change_no_byte_of_any_answer(game: str) -> None:
    chance = Random(f"odd commands of {game}")
    opening = dealt(game, 0)
    base = await scripted(game, opening, chance, STEPS)
    hidden = [slot for slot in slots(opening) if turned_up_at(base, slot) is None]
    assert len(hidden) > 3
    again = await run_script(game, opening, base.script)
    check_same(base.streams, again.streams)
    for _ in range(2):
        shuffled = chance.sample(hidden, len(hidden))
        deal = rearranged(opening, dict(zip(hidden, shuffled, strict=True)))
        assert deal != opening
        other = await run_script(game, deal, base.script)
        check_same(base.streams, other.streams)


@pytest.mark.parametrize("game", GAMES)
async def test_a_card_changes_nothing_before_it_is_turned_up(game: str) -> None:
    chance = Random(f"swaps of {game}")
    opening = dealt(game, 7)
    base = await scripted(game, opening, chance, STEPS)
    looked = 0
    for _ in range(4):
        one, two = chance.sample(slots(opening), 2)
        deal = rearranged(opening, {one: two, two: one})
        first = [step for slot in (one, two) if (step := turned_up_at(base, slot)) is not None]
        end = min(first, default=STEPS + 1) - 1
        if deal == opening or end < 0:  # two packs: the swapped cards may be equal
            continue
        looked += end
        other = await run_script(game, deal, base.script)
        check_same(base.until(end), other.until(end))
    assert looked > STEPS / 2


async def test_the_scripts_provoke_every_kind_of_refusal() -> None:
    answers: set[str] = set()
    moves = 0
    for game in GAMES:
        base = await scripted(game, dealt(game, 3), Random(f"tries {game}"), STEPS)
        moves += sum(base.made[-1].values())
        text = "".join(str(frame) for name in ("Anna", "Wanda") for frame in base.streams[name])
        packed = b"".join(
            bytes(frame) for frame in base.streams["Bert"] if isinstance(frame, bytes)
        )
        answers |= {code for code in REASONS if f'"code":"{code}"' in text}
        answers |= {
            code for code in REASONS if msgpack.packb("code") + msgpack.packb(code) in packed
        }
    assert moves > STEPS
    assert answers >= {
        *("bad_command", "bad_frame", "bad_move", "illegal_move", "stale_move"),
        *("race_running", "no_such_race", "wrong_phase", "host_only", "not_seated", "hello_twice"),
    }


async def test_a_refusal_that_depends_on_a_hidden_card_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening = dealt("canfield", 1)
    base_deal, chance = opening, Random("leaks")
    base = await scripted("canfield", base_deal, chance, STEPS)
    hidden = [slot for slot in slots(opening) if turned_up_at(base, slot) is None]
    shown: list[Position] = []

    def remembered(view: Any, position: Position) -> Any:
        shown.append(position)
        return view

    def leaky(no: Refused, *_: Any) -> Refused:
        # One character more or less, depending on a hidden card.
        last = shown[-1].reserve[0] if shown else "AS"
        return Refused(re=no.re, code=no.code, message=no.message + "!" * (last[1] in "HD"))

    leak(monkeypatch, "redact", remembered)
    leak(monkeypatch, "refused", leaky)
    ours = await run_script("canfield", base_deal, base.script)
    differ = 0
    for _ in range(4):
        deal = rearranged(
            opening, dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
        )
        theirs = await run_script("canfield", deal, base.script)
        differ += theirs.streams != ours.streams
    assert differ

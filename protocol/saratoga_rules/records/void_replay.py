"""The deal of a voided race, and its logs replayed on that deal, as far as the record opens them."""

from collections.abc import Iterator

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.play import is_won
from saratoga_rules.position import Position
from saratoga_rules.records.endings import faults_after_end
from saratoga_rules.records.record import LOG_ENDINGS, MOST_ENTRIES
from saratoga_rules.records.replay import ReplayError, game_of, steps_from
from saratoga_rules.records.void_record import VoidRecord
from saratoga_rules.records.voided import CLOSED


def void_deal(void: VoidRecord) -> Position | None:
    """Return the deal; `None` if the seed or a nonce is unreadable. Raises `ReplayError` for unknown rules."""
    game = game_of(void)
    if not void.seed or not void.racers or not all(racer.nonce for racer in void.racers):
        return None
    nonces = {racer.player: bytes.fromhex(racer.nonce) for racer in void.racers}
    return deal_for_key(game, deal_key(bytes.fromhex(void.seed), void.race_id, nonces))


def replay_faults(void: VoidRecord, deal: Position) -> Iterator[str]:
    """Yield which logs are marked complete but cannot be replayed, and whether a race with results was voided."""
    game = game_of(void)
    has_results = void.reason == CLOSED
    for racer in void.racers:
        if not racer.complete:
            has_results = False
            continue
        if len(racer.log) > MOST_ENTRIES + 1:
            yield f"{racer.name}: the log has more than {MOST_ENTRIES} entries and an ending"
            continue
        try:
            steps = steps_from(game, deal, racer.log)
        except ReplayError as fault:
            yield f"{racer.name}, {fault}, though the log is marked complete"
            continue
        for went_on in faults_after_end(game, steps):
            yield f"{racer.name}: {went_on}"
        end = steps[-1].position if steps else deal
        has_ending = bool(racer.log) and racer.log[-1].text in LOG_ENDINGS
        has_results &= has_ending or is_won(game, end)
    if has_results:
        yield "every board had ended when the table was closed, so the race had results"

"""Cash out: after the moves in flight, and not if one of them was taken back meanwhile."""

from dataclasses import replace

from saratoga_client.problems import Exit, Problem
from saratoga_client.session.move_sender import MoveSender
from saratoga_client.session.state_store import StateStore


async def cash_out(store: StateStore, sender: MoveSender) -> None:
    """End the board and keep the banked cards, after all moves in flight are answered.

    Does nothing without a racing board. Raises `Problem` if a move was taken back, or an error of
    `MoveSender.cash_out`.
    """
    own = store.own
    if own is None or not own.is_racing or own.is_cashing_out:
        return
    _mark(store, True)
    try:
        await store.until(lambda: not _has_moves_in_flight(store))
        now = store.own
        if now is None or now.race != own.race or not now.is_racing:
            return
        if now.taken_back:
            raise Problem(
                f"Not cashed out: {now.taken_back}",
                "Look at the board, and cash out again if you still want to.",
                Exit.REFUSED,
            )
        await sender.cash_out(own.race)
    finally:
        _mark(store, False)


def _has_moves_in_flight(store: StateStore) -> bool:
    own = store.own
    return own is not None and bool(own.in_flight)


def _mark(store: StateStore, is_cashing_out: bool) -> None:
    """Show in the state that the board is being cashed out, or no longer."""
    state, own = store.state, store.own
    if state is not None and own is not None and own.is_cashing_out != is_cashing_out:
        reason = "" if is_cashing_out else own.taken_back
        own = replace(own, is_cashing_out=is_cashing_out and own.is_racing, taken_back=reason)
        store.replace(replace(state, own=own))

"""What is said while a race is seen again: sentences for one line, about moves, partings and pauses."""

from saratoga_client.input.move_text import CardName, describe, first_that_fits
from saratoga_client.review.divergence import Divergence
from saratoga_client.review.pauses import Pause
from saratoga_client.review.replay import Replay
from saratoga_client.review.times import lasting, precise
from saratoga_client.sanitised import sanitised
from saratoga_client.session.table_view import shown_name
from saratoga_client.wording import capitalised, counted
from saratoga_rules.cards import Card
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position
from saratoga_rules.records.record import LOG_ENDINGS
from saratoga_rules.views import redact


def last_move_text(replay: Replay, card_name: CardName) -> str:
    """What led to the position that is shown."""
    entry, board = replay.entry, replay.board
    if entry is None:
        return "The deal, the same for everybody."
    if entry.text in LOG_ENDINGS:
        return f"{capitalised(LOG_ENDINGS[entry.text])} at {precise(entry.at)}."
    before = redact(board.positions[replay.step - 1])
    said = describe(replay.game, before, parse_move(entry.text), card_name)
    return first_that_fits(
        f"{replay.step}. {said}, at {precise(entry.at)}", f"{replay.step}. {said}"
    )


def next_move_text(replay: Replay, index: int, card_name: CardName) -> str:
    """What a board does next."""
    board, step = replay.boards[index], replay.step_of(index)
    if step == len(board.entries):
        return "nothing: it is over"
    entry = board.entries[step]
    if entry.text in LOG_ENDINGS:
        return str(LOG_ENDINGS[entry.text])
    return describe(replay.game, redact(board.positions[step]), parse_move(entry.text), card_name)


def first_divergence_text(replay: Replay, parting: Divergence) -> str:
    """Where two boards first went different ways; what each did then stands in the panel."""
    rival = _rival(replay)
    where = (
        f"after {counted(parting.own, 'move')} alike" if parting.own else "at once, from the deal"
    )
    return first_that_fits(
        f"Parted from {rival} {where}. right: both go on; d: where for good",
        f"Parted from {rival} {where}.",
        f"Parted {where}.",
    )


def last_divergence_text(replay: Replay, parting: Divergence) -> str:
    """Where two boards looked the same for the last time."""
    rival = _rival(replay)
    here = f"after {counted(parting.own, 'move')}"
    if parting.own == parting.winners:
        there = "as many on each board"
    else:
        there = f"{parting.winners} on the other"
    return first_that_fits(
        f"The last position shared with {rival}, {here}, {there}.",
        f"The last position that both had, {here}, {there}.",
    )


def pause_text(pause: Pause) -> str:
    """How long somebody thought about the position that is shown."""
    since = precise(pause.since)
    return f"Thought about this for {lasting(pause.lasted)}, from {since} on. w: the next longest"


def hidden_cards(position: Position) -> tuple[tuple[str, tuple[Card, ...]], ...]:
    """What lies face down, under a heading each, in the order in which it would come up."""
    return (
        ("RESERVE, FROM THE TOP", tuple(position.reserve[-2::-1])),
        ("STOCK, AS IT COMES", tuple(position.stock)),
    )


def _moves(number: int) -> str:
    return counted(number, "move")


def _rival(replay: Replay) -> str:
    rival = replay.boards[replay.rival]
    return sanitised(shown_name(rival.name, rival.bot))

"""The sentences of a replay: moves, differences between boards, and pauses. Pure."""

from collections.abc import Iterator

from saratoga_client.input.move_text import CardName, describe, first_that_fits, turned_up
from saratoga_client.input.pile_keys import has_pile
from saratoga_client.review.divergence import Divergence
from saratoga_client.review.pauses import Pause
from saratoga_client.review.replay import Replay
from saratoga_client.wording import (
    capitalised,
    counted,
    duration_text,
    minutes_and_seconds,
    shown_name,
    state_words,
)
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import RESERVE, parse_move
from saratoga_rules.position import Position
from saratoga_rules.records.standing import LOG_ENDINGS


def last_move_text(replay: Replay, card_name: CardName) -> str:
    """Return the move or the ending that led to the shown position."""
    entry, board = replay.entry, replay.board
    if entry is None:
        return "The deal, the same for every player."
    if entry.text in LOG_ENDINGS:
        return f"{capitalised(state_words(entry.text))} at {minutes_and_seconds(entry.at, tenths=True)}."
    before = board.view(replay.step - 1)
    said = describe(replay.game, before, parse_move(entry.text), card_name)
    card = turned_up(before, board.view(replay.step))
    if card is not None:
        said += f"; {card_name(card)} turns up"
    return first_that_fits(
        f"{replay.step}. {said}, at {minutes_and_seconds(entry.at, tenths=True)}",
        f"{replay.step}. {said}",
    )


def next_move_text(replay: Replay, card_name: CardName) -> str:
    """Return the shown board's next move or its ending."""
    board, step = replay.board, replay.step
    if step == len(board.entries):
        return "nothing: the board has ended"
    entry = board.entries[step]
    if entry.text in LOG_ENDINGS:
        return state_words(entry.text)
    return describe(replay.game, board.view(step), parse_move(entry.text), card_name)


def divergence_text(replay: Replay, divergence: Divergence) -> str:
    """Return a sentence on the first difference of two boards; the panel shows the own next move."""
    rival = shown_name(replay.rival.name, replay.rival.bot, replay.rival.level)
    if divergence.common:
        where = f"after {counted(divergence.common, 'common move')}"
    else:
        where = "from the first move"
    return first_that_fits(
        f"Differs from {rival} {where}: {divergence.winners_next or 'that board ended'}.",
        f"Differs from {rival} {where}.",
        f"Differs {where}.",
    )


def pause_text(pause: Pause) -> str:
    """Return a sentence on a pause before a move."""
    since = minutes_and_seconds(pause.since, tenths=True)
    return f"A pause of {duration_text(pause.lasted)}, from {since} on. w: the next longest"


def hidden_cards(game: Game, position: Position) -> Iterator[tuple[str, tuple[Card, ...]]]:
    """Yield the hidden cards of reserve and stock, each with a heading, the next card first."""
    if has_pile(game, RESERVE):
        yield "RESERVE, FROM THE TOP", tuple(position.reserve[-2::-1])
    yield "STOCK, FROM THE TOP", tuple(position.stock)


def face_down_columns(position: Position) -> Iterator[tuple[int, tuple[Card, ...]]]:
    """Yield the number of each column with face-down cards and these cards, the next one first."""
    for number, cards in enumerate(position.face_down, start=1):
        if cards:
            yield number, cards[::-1]

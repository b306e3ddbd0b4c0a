"""The keys of practice and of replays, for their help pages."""

from typing import Final, TypeAlias

Keys: TypeAlias = tuple[tuple[str, str], ...]

PRACTICE_KEYS: Final[Keys] = (
    ("z  u  ctrl+z", "undo the last move; again for the moves before it"),
    ("i  ctrl+y", "redo the move that was undone last"),
    ("h", "a hint: what a strong player would do with the cards in sight, and why"),
    ("a", "bank every card that is safe to bank: no card in play could be laid on it"),
    ("s", "start this deal again"),
    ("n", "a new deal"),
    ("e", "race the ghost of your best run of this deal, or stop racing it"),
    ("y", "copy the result, with the seed, for friends"),
    ("/", "find cards: type a rank, a suit or both"),
    ("p", "hide or show the panel"),
    ("c", "two or four colours of suits"),
    ("t", "the next colour theme"),
    ("q", "end practice; the run is kept on this machine"),
)

REPLAY_KEYS: Final[Keys] = (
    ("right  left", "the next move, the move before; also l and j"),
    ("pagedown  pageup", "ten moves forward, ten moves back"),
    (".  ,", "one second forward or back; > and < go ten seconds"),
    ("home  end", "the deal, the end of this board"),
    ("space", "play at the speed of the race, then at twice, at eight times, then stop"),
    ("tab  shift+tab", "the next racer's board, the one before; 1 to 9 choose by place"),
    ("d", "where this board and the winner's first differ"),
    ("w", "the longest pause before a move on this board; again: the next longest"),
    ("o", "name the hidden cards in the panel, or show the chart again"),
    ("s", "practise this deal, racing the ghost of this board"),
    ("y", "copy the result for friends"),
    ("/", "find cards: type a rank, a suit or both"),
    ("p", "hide or show the panel"),
    ("c  t", "two or four colours of suits; the next colour theme"),
    ("q", "back"),
)

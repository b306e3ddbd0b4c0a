"""The keys of practice and of replays, for the help that lies over them."""

from typing import Final, TypeAlias

Keys: TypeAlias = tuple[tuple[str, str], ...]

PRACTICE_KEYS: Final[Keys] = (
    ("z  u  ctrl+z", "undo a move and all it brought about; as often as there are moves"),
    ("y", "make the move again that was undone"),
    ("h", "a hint: what a strong player would do, from what can be seen, and why"),
    ("a", "bank all that is safe: what no card still in play could be laid on"),
    ("s", "start this deal again from the beginning"),
    ("n", "a new deal"),
    ("e", "race the ghost of your best run of this deal, or stop that"),
    ("v", "copy the result, with the seed, for friends"),
    ("/", "find cards: type a rank, a suit or both"),
    ("p", "hide the panel, and bring it back"),
    ("c", "two or four colours of suits"),
    ("t", "other colours of everything"),
    ("q", "stop practising; the run is kept on this machine"),
)

REPLAY_KEYS: Final[Keys] = (
    ("right  left", "the next move, the move before; also l and j"),
    ("pagedown  pageup", "ten moves on, ten moves back"),
    (".  ,", "a second on, a second back; > and < go ten seconds"),
    ("home  end", "the deal, the end of this board"),
    ("space", "run as fast as the race was, then twice, then eight times as fast, then stop"),
    ("tab  shift+tab", "the next racer's board, the one before; 1 to 9 by place"),
    ("d", "where this board and the winner's parted; again: the last position both had"),
    ("x", "change to the board that this one is compared with, and back"),
    ("b", "both boards side by side, where there is room for them"),
    ("w", "what was thought about longest on this board, and what next to that"),
    ("o", "name what lies face down, in place of the climb"),
    ("s", "play this deal yourself, beside the ghost of this board; it is practice"),
    ("v", "copy the result for friends"),
    ("/", "find cards: type a rank, a suit or both"),
    ("p", "hide the panel, and bring it back"),
    ("c  t", "two or four colours of suits; other colours of everything"),
    ("q", "back"),
)

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
    ("right  l", "the next move"),
    ("left  j", "the move before"),
    ("pageup  pagedown", "ten moves back, ten on"),
    ("home  end", "the deal, the end of the board"),
    ("space", "play at the pace of the race, then twice, then eight times as fast, then stop"),
    ("tab", "the next racer's board at the same moment"),
    ("o", "open or close what lay face down"),
    ("c  t", "colours of suits, colours of everything"),
    ("q", "back"),
)

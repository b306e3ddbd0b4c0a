"""The terminal modes that a program changes, and those that it does not restore.

The names and numbers are xterm's (ctlseqs) and, for keyboard and pointer, those of kitty's protocols.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

ALTERNATE_SCREENS: Final = frozenset({47, 1047, 1049})
ON_AT_FIRST: Final = frozenset({7, 25})
"""Private modes that a terminal starts with: line wrap (7) and a visible cursor (25)."""

NAMES: Final = {
    1: "cursor keys",
    7: "lines wrap",
    25: "the cursor shows",
    1000: "mouse clicks",
    1002: "mouse drags",
    1003: "mouse motion",
    1004: "focus",
    1006: "mouse as SGR",
    1015: "mouse as urxvt",
    1016: "mouse in pixels",
    1049: "alternate screen",
    2004: "bracketed paste",
    2026: "synchronized output",
    2048: "in-band resize",
}

SEQUENCE: Final = re.compile(
    rb"\x1b\[(?P<mark>[<=>?]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<last>[@-~])"
    rb"|\x1b\](?P<command>[0-9]*);?(?P<words>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    rb"|\x1b[PX^_][^\x1b]*\x1b\\"
    rb"|\x1b(?P<short>[ -/]*[0-Z\\^-~])"
)
"""Matches one control sequence: CSI, OSC, another string, or two or three bytes."""


@dataclass
class TerminalModes:
    """The state of a terminal's modes, updated by output."""

    private: dict[int, bool] = field(default_factory=dict)
    """The present state of every private mode that was set or reset."""
    keyboards: dict[bool, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The stack of keyboard protocols, on the alternate screen (`True`) and on the main screen."""
    pointer: bytes = b""
    """The shape of the mouse pointer, if the program chose one."""
    plain_letters: bool = True
    """True if the next output has the terminal's default colours."""
    keypad: bool = False
    other_keys: bool = False
    ever: set[int] = field(default_factory=set)
    """Private modes that were ever set or reset."""
    _rest: bytes = b""

    def feed(self, data: bytes) -> None:
        """Process further output; a control sequence may be split between two calls."""
        data = self._rest + data
        end = 0
        for found in SEQUENCE.finditer(data):
            end = found.end()
            if found["last"]:
                numbers = [int(number) for number in re.findall(rb"\d+", found["numbers"])]
                self._switch(found["mark"] + found["between"] + found["last"], numbers)
            elif found["command"] == b"22":
                self.pointer = b"" if found["words"] in (b"", b"default") else found["words"]
            elif found["short"] in (b"=", b">"):
                self.keypad = found["short"] == b"="
        begun = data.find(b"\x1b", end)
        self._rest = data[begun:] if begun >= 0 else b""

    def _switch(self, command: bytes, numbers: list[int]) -> None:
        match command:
            case b"?h" | b"?l":
                for mode in numbers:
                    self.private[mode] = command == b"?h"
                    self.ever.add(mode)
            case b">u":
                self._keyboard.append(numbers[0] if numbers else 0)
            case b"<u":
                del self._keyboard[-(numbers[0] if numbers else 1) :]
            case b"=u":
                self._keyboard[-1:] = numbers[:1]
            case b"m":
                self.plain_letters = not numbers or numbers[-1] == 0
            case b">m":
                self.other_keys = len(numbers) > 1 and numbers[1] > 0

    @property
    def _keyboard(self) -> list[int]:
        return self.keyboards[self.on_alternate_screen]

    @property
    def on_alternate_screen(self) -> bool:
        return any(self.private.get(mode) for mode in ALTERNATE_SCREENS)

    @property
    def kept(self) -> list[str]:
        """Return a description of each mode that is not restored; empty after a clean exit."""
        found = [
            f"{NAMES.get(mode, 'a mode')} (?{mode}) is {'on' if on else 'off'}"
            for mode, on in sorted(self.private.items())
            if on != (mode in ON_AT_FIRST)
        ]
        for alternate, pushed in self.keyboards.items():
            if pushed:
                found.append(f"keyboard {pushed} on the {'alternate' if alternate else 'main'}")
        if self.pointer:
            found.append(f"pointer {self.pointer.decode()}")
        if not self.plain_letters:
            found.append("colours")
        if self.keypad:
            found.append("application keypad")
        if self.other_keys:
            found.append("other keys")
        if self._rest:
            found.append(f"half a command: {self._rest!r}")
        return found


def questions(data: bytes) -> list[bytes]:
    """Return a modern terminal's answers to the queries in these bytes."""
    # 2: known and reset.
    return [b"\x1b[?%s;2$y" % mode for mode in re.findall(rb"\x1b\[\?(2026|2048)\$p", data)]

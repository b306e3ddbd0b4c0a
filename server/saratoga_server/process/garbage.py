"""How often this process looks for garbage in circles: a look over everything stops the event loop.

Measured with 900 players: 150 to 220 ms every fifteen seconds as Python has it by itself, which is the
worst that any of them waited for; and one part in twenty of the processor's time.
"""

import gc
from typing import Final

YOUNG: Final = 10_000
"""Objects that come to be before the youngest are looked over: half a millisecond."""

OLDER: Final = 20
"""Looks at the youngest for one at the older ones, and so on."""


def look_seldom() -> None:
    """From now on; said before the program is loaded, since nearly all of that stays.

    To look at it as often as Python does by itself takes a seventh of the start.
    """
    gc.set_threshold(YOUNG, OLDER, OLDER)


def spare_what_stays() -> None:
    """Look no more at what is there by now: programs, rules and tables of words stay for good.

    Of 60,000 objects 300 are garbage by then: to find them would hold up everybody for 40 ms.
    """
    gc.freeze()

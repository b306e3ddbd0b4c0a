"""The money meter: a bar of banked cards with a tick at the break-even count. Pure."""

from typing import Protocol

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.wording import MoneyMeter, dollars


class BarSymbols(Protocol):
    """The symbols of a bar, one cell each."""

    @property
    def filled(self) -> str: ...
    @property
    def rest(self) -> str: ...
    @property
    def tick(self) -> str: ...


def money_role(amount: int) -> Role:
    """Return the role of an amount; losses and gains have different roles."""
    return Role.MONEY_DOWN if amount < 0 else Role.MONEY_UP


def draw_meter(
    canvas: Canvas, x: int, y: int, width: int, money: MoneyMeter, symbols: BarSymbols
) -> int:
    """Draw the count, the bar and the tick in three rows; return the row after them."""
    canvas.put(x, y, f"banked {money.banked}/{money.goal}", Role.LABEL)
    tick = draw_bar(canvas, x, y + 1, width, money, symbols)
    canvas.put(tick, y + 2, f"{symbols.tick}{money.even} = {money.even_word}", Role.TICK)
    return y + 3


def draw_amounts(canvas: Canvas, x: int, y: int, money: MoneyMeter) -> int:
    """Draw the price, the winnings and the net in three rows; return the row after them."""
    for label, amount in (("paid", money.paid), ("won", money.won), ("net", money.net)):
        canvas.put(x, y, f"{label:<5}", Role.LABEL)
        canvas.put(x + 5, y, f"{dollars(amount):>5}", money_role(amount))
        y += 1
    return y


def draw_bar(
    canvas: Canvas, x: int, y: int, width: int, money: MoneyMeter, symbols: BarSymbols
) -> int:
    """Draw the bar and its tick in one row; return the tick's column.

    Rounding never moves the bar's end to the wrong side of the tick, which marks the break-even count.
    A single banked card is visible, and so is a single missing card.
    """
    banked = money.banked
    at = round(width * money.even / money.goal)
    filled = min(width, round(width * banked / money.goal))
    filled = max(filled, 1) if banked else 0
    filled = min(filled, width - 1) if banked < money.goal else width
    if money.net < 0:
        filled = max(0, min(filled, at - 1))
    elif not money.net:
        filled = at
    else:
        filled = max(filled, at + 2)
    canvas.put(x, y, symbols.filled * filled, Role.BAR)
    canvas.put(x + filled, y, symbols.rest * (width - filled), Role.BAR_REST)
    canvas.put(x + at, y, symbols.tick, Role.TICK)
    return x + at

import pytest

from saratoga_client.plain.grammar import ORDERS, Where, help_lines, not_understood, read_order


def named(line: str, where: Where = Where.TABLE) -> tuple[str, str]:
    said = read_order(line, where)
    return ("" if said.order is None else said.order.name), said.rest


@pytest.mark.parametrize(
    ("line", "order", "rest"),
    [
        ("look", "look", ""),
        ("  Look  ", "look", ""),
        ("state", "look", ""),
        ("where 7C", "where", "7C"),
        ("cash out", "cash out", ""),
        ("cash  out  yes", "cash out", "yes"),
        ("cashout yes", "cash out", "yes"),
        ("not ready", "not ready", ""),
        ("kick Anna Lee", "kick", "Anna Lee"),
        ("next race", "next", ""),
    ],
)
def test_an_order_is_read_with_what_follows_it(line: str, order: str, rest: str) -> None:
    assert named(line) == (order, rest)


@pytest.mark.parametrize("line", ["w 3", "t3>t5:4", "3 f", "7C 8D", "gibberish"])
def test_everything_else_must_be_a_move(line: str) -> None:
    said = read_order(line, Where.TABLE)
    assert said.order is None
    assert said.is_move
    assert said.line == line


@pytest.mark.parametrize("line", ["draw", "redeal", "bank w"])
def test_orders_that_are_moves_are_read_as_such(line: str) -> None:
    said = read_order(line, Where.TABLE)
    assert said.is_move
    assert said.line == line


def test_an_order_of_another_place_is_none_here_and_says_where_it_is() -> None:
    assert named("undo") == ("", "undo")
    assert not_understood("undo", Where.TABLE) == (
        "no: undo cannot be said here, only in practice. Say help."
    )


def test_a_slip_of_the_finger_is_guessed() -> None:
    assert not_understood("standigs", Where.TABLE) == (
        "no: 'standigs' is neither an order nor a move. Did you mean standings? Say help."
    )
    assert not_understood("xyzzy", Where.LOBBY) == ("no: 'xyzzy' is not an order here. Say help.")


@pytest.mark.parametrize("where", [Where.LOBBY, Where.TABLE, Where.PRACTICE, Where.BESIDE])
def test_the_help_has_a_line_for_every_order(where: Where) -> None:
    lines = list(help_lines(where))
    assert all(line.startswith("help ") and ": " in line for line in lines)
    orders = [order for order in ORDERS if where in order.where]
    assert len([line for line in lines if not line.startswith("help a move")]) == len(orders)


def test_no_word_means_two_orders() -> None:
    names = [name for order in ORDERS for name in (order.name, *order.also)]
    assert len(names) == len(set(names))

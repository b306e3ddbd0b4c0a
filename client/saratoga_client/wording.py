"""The texts for numbers, names, games, times and money in all parts of the client. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from saratoga_protocol.events import MOST_RIVALS, Result, TableSettings
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.money import CARD_PRIZE, even_at, net, price

if TYPE_CHECKING:
    from saratoga_rules.records.standing import Placed


def duration_text(milliseconds: int) -> str:
    """Return a duration in words.

    >>> duration_text(940), duration_text(12_340), duration_text(75_000)
    ('0.9 s', '12.3 s', '1 min 15 s')
    """
    if milliseconds < 60_000:
        return f"{milliseconds // 100 / 10:.1f} s"
    return f"{milliseconds // 60_000} min {milliseconds % 60_000 // 1000} s"


def tie_words(row: "Result | Placed", ahead: "Result | Placed | None") -> str:
    """Return why a row of a result is behind the row just ahead with as many cards; empty if it is not."""
    if ahead is None or ahead.banked != row.banked or ahead.place == row.place:
        return ""
    if row.reached is None:
        return ""
    if ahead.reached is None:
        return f"reached {counted(row.banked)} during the race, not at the deal"
    later = row.reached - ahead.reached
    if later == 0:
        return f"reached {counted(row.banked)} in the same millisecond, next in the table's order"
    words = f"{later} ms" if later < 1000 else duration_text(later)
    return f"reached {counted(row.banked)} {words} later"


BOT_SIGN: Final = "°"
"""The sign after every bot's name; no name has it."""

BOT_LEVELS: Final = ("weak", "even", "strong")
"""The levels of this program's own bots, weakest first."""


MOST_SHARING: Final = 2
"""The most racers that a sentence on a shared place names."""


def counted(number: int, noun: str = "card") -> str:
    """Return a number with its noun.

    >>> counted(1), counted(3, "move"), counted(2, "pass")
    ('1 card', '3 moves', '2 passes')
    """
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{plural}"


def capitalised(sentence: str) -> str:
    """Capitalise the first letter and leave the rest as it is."""
    return sentence[:1].upper() + sentence[1:]


def ordinal(number: int) -> str:
    """Return a place as an ordinal number.

    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 12, 13, 21, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '113th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def finish(name: str, place: int, racers: int, sharing: Sequence[str] = ()) -> str:
    """Return the place in which a racer finished; `name` is `You` for the player.

    >>> finish("You", 2, 3), finish("Anna", 2, 3)
    ('You finished 2nd of 3', 'Anna finished 2nd of 3')
    >>> finish("You", 1, 3, ["Bert"]), finish("Anna", 1, 4, ["Bert", "Cleo", "Dora"])
    ('You share 1st place with Bert', 'Anna shares 1st place with 3 others')
    """
    if not sharing:
        return f"{name} finished {ordinal(place)} of {racers}"
    others = listed(sharing) if len(sharing) <= MOST_SHARING else f"{len(sharing)} others"
    return f"{name} share{'' if name == 'You' else 's'} {ordinal(place)} place with {others}"


def minutes_and_seconds(milliseconds: int, *, tenths: bool = False) -> str:
    """Return a duration as minutes and seconds, rounded down; with `tenths`, also tenths of seconds.

    >>> minutes_and_seconds(0), minutes_and_seconds(75_999), minutes_and_seconds(600_000)
    ('0:00', '1:15', '10:00')
    >>> minutes_and_seconds(75_960, tenths=True)
    '1:15.9'
    """
    seconds = milliseconds // 1000
    tenth = f".{milliseconds % 1000 // 100}" if tenths else ""
    return f"{seconds // 60}:{seconds % 60:02}{tenth}"


def listed(names: Sequence[str]) -> str:
    """Join names into one phrase.

    >>> listed(["Anna"]), listed(["Anna", "Bert", "Cleo"])
    ('Anna', 'Anna, Bert and Cleo')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def game_title(name: str) -> str:
    """Return the title of a game; a game unknown to this version keeps its name.

    >>> game_title("lady-palk"), game_title("golf")
    ('Lady Palk', 'golf')
    """
    return GAMES[name].title if name in GAMES else name


def cap_words(minutes: int) -> str:
    """Return the time limit of a race; 0 means none.

    >>> cap_words(10), cap_words(0)
    ('10 minutes', 'no time limit')
    """
    return f"{minutes} minutes" if minutes else "no time limit"


def match_words(races: int) -> str:
    """Return the length of a match; 1 means one race.

    >>> match_words(3), match_words(1)
    ('match of 3 races', 'one race')
    """
    return f"match of {races} races" if races > 1 else "one race"


def settings_words(settings: TableSettings) -> str:
    """Return the settings, such as `canfield, 10 minutes, 4 seats, private`."""
    public = "public" if settings.public else "private"
    match = f", {match_words(settings.races)}" if settings.races > 1 else ""
    return f"{settings.game}, {cap_words(settings.cap)}, {counted(settings.seats, 'seat')}, {public}{match}"


REACTIONS: Final = {"gg": "good game!", "again": "again?", "nice": "nice!"}
"""What players can say at a table, by its word on the wire."""


def state_words(state: str) -> str:
    """Return a board's state in words.

    >>> state_words("cash-out"), state_words("ended-by-host")
    ('cashed out', 'ended by host')
    """
    return "cashed out" if state == "cash-out" else state.replace("-", " ")


def rivals(number: int) -> str:
    """Return the number of different people that a player raced against, as leaderboards count it.

    >>> rivals(1), rivals(2), rivals(100)
    ('1 person', '2 people', '100+ people')
    """
    shown = str(number) if number < MOST_RIVALS else f"{MOST_RIVALS}+"
    return f"{shown} {'person' if number == 1 else 'people'}"


def dollars(amount: int) -> str:
    """Return casino dollars with their sign.

    >>> dollars(-45), dollars(0), dollars(210)
    ('-$45', '+$0', '+$210')
    """
    return f"{'-' if amount < 0 else '+'}${abs(amount)}"


def shown_name(name: str, bot: bool, sign: str = BOT_SIGN) -> str:
    """Return a player's name; a bot's name carries its sign.

    >>> shown_name("Anna", False), shown_name("Otto", True)
    ('Anna', 'Otto°')
    """
    return f"{name}{sign}" if bot else name


def unmarked(words: str) -> str:
    """Return a typed name without the mark of a bot at its end.

    >>> unmarked("Otto [bot]"), unmarked("Otto°"), unmarked("Anna")
    ('Otto', 'Otto', 'Anna')
    """
    return words.partition("[")[0].strip().removesuffix(BOT_SIGN)


class MoneyMeter(NamedTuple):
    """The figures of one board's money meter: cards, then casino dollars."""

    banked: int
    goal: int
    """Number of cards on the foundations of a won board."""
    even: int
    """The least number of banked cards that is no loss."""
    paid: int
    """The price of the packs in casino dollars, as a negative number."""
    won: int
    net: int

    @property
    def even_word(self) -> str:
        """The word for the money at `even` cards: even, or ahead if no number of cards pays the price exactly."""
        return "ahead" if CARD_PRIZE * self.even + self.paid else "even"


def money_meter(game: Game, banked: int) -> MoneyMeter:
    """Return the money meter of a board with `banked` cards on its foundations."""
    return MoneyMeter(
        banked=banked,
        goal=game.cards,
        even=even_at(game),
        paid=-price(game),
        won=CARD_PRIZE * banked,
        net=net(game, banked),
    )

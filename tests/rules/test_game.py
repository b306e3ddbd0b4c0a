"""The type `Game`, and a proof that another game needs only one module."""

from dataclasses import dataclass
from pathlib import Path

from kit.positions import draw, legal, played, refused
from saratoga_rules import games
from saratoga_rules.cards import rank
from saratoga_rules.dealing.deal import deal, deal_for_key
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.game import Game, foundations_hold
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.judge import Refusal, is_won
from saratoga_rules.money import net
from saratoga_rules.piles import Pile
from saratoga_rules.stuck.stuck import is_stuck
from saratoga_rules.views import redact
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import BaseCard, DealBuilder, ToColumns, ToReserve
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.packets import TOP_CARD_OR_WHOLE_PILE
from saratoga_rules.vocabulary.spaces import ANYTHING, Space
from saratoga_rules.vocabulary.stocks import turned
from saratoga_rules.vocabulary.tableau import Columns


@dataclass(frozen=True)
class FirstPacket:
    """A deal step as in PySolFC: the first three cards are turned before the first draw."""

    def __call__(self, layout: DealBuilder) -> None:
        layout.waste += layout.take(3)

    def __str__(self) -> str:
        return "three cards turned to the waste"


PYSOL = Game(
    name="canfield-pysol",
    title="Canfield (PySolFC)",
    packs=1,
    pack_price=52,
    deal=(BaseCard(), ToReserve(13), ToColumns(1), FirstPacket()),
    columns=Columns(
        count=4,
        build=down(Pairing.ALTERNATE_COLOUR, around_the_corner=True),
        packet=TOP_CARD_OR_WHOLE_PILE,
        space=Space(filled_from=Pile.RESERVE, admits=ANYTHING),
    ),
    up=up_from(First.BASE_CARD),
    stock=turned(3),
    goal=foundations_hold(52),
)


def test_another_game_deals_as_its_page_says() -> None:
    deck = shuffled_deck(1, b"another game")
    position = deal(PYSOL, deck)
    assert position.base == rank(deck[0])
    assert position.reserve == deck[1:14]
    assert position.columns == tuple((card,) for card in deck[14:18])
    assert position.waste == deck[18:21]
    assert position.stock == deck[21:]
    assert net(PYSOL, position.banked) == -47


def test_another_game_moves_the_top_card_or_the_whole_pile() -> None:
    position = draw(PYSOL, "t1: 9H 8C 7D\nt2: TC\nt3: 8S\nt4: 2C\nreserve: 2H\nbase: 5")
    assert {"t1>t2:3", "t1>t3"} <= legal(PYSOL, position)
    assert refused(PYSOL, position, "t1>t2:2") is Refusal.NOT_A_PACKET


def test_another_game_puts_any_card_into_a_space_once_the_reserve_is_gone() -> None:
    position = draw(PYSOL, "t1: 9H 8C 7D\nt2: TC\nt4: 2S\nwaste: 5H\nbase: 4")
    assert {move for move in legal(PYSOL, position) if ">t3" in move} == {"t1>t3", "w>t3"}
    assert refused(PYSOL, position, "t1>t3:3") is Refusal.CHANGES_NOTHING
    filled = draw(PYSOL, "t1: 9H\nt2: TC\nt3: 8D\nt4: 2S\nreserve: 5H 6S\nbase: 4")
    assert played(PYSOL, filled, "t1>t2").columns[0] == ("6S",)


def test_another_game_is_redacted_won_and_stuck_like_the_others() -> None:
    view = redact(deal_for_key(PYSOL, b"another game"))
    assert legal(PYSOL, view) == legal(PYSOL, deal_for_key(PYSOL, b"another game"))
    last = draw(PYSOL, "t1: 6H\nup: C13 S13 H12 D13\nbase: 7")
    assert is_won(PYSOL, played(PYSOL, last, "t1>up"))
    assert is_stuck(PYSOL, last) is False
    assert is_stuck(PYSOL, draw(PYSOL, "t1: 6H 2C\nt2: 9S\nt3: 9C\nt4: 3C\nbase: 7")) is True


def test_another_game_is_described_from_its_own_words() -> None:
    rules = dict(PYSOL.describe())
    assert rules["deal"].endswith("three cards turned to the waste; the rest is the stock")
    assert rules["carried together"] == "the top card or the whole pile"
    assert rules["a space"] == (
        "filled at once from the reserve; when that is gone, anything that may be carried"
    )


def test_every_game_is_described() -> None:
    assert dict(CANFIELD.describe()) == {
        "packs": "one, 52 cards",
        "deal": (
            "13 cards to the reserve, only the top one known; one card, the base card, to its"
            " foundation; 1 face up to each column; the rest is the stock"
        ),
        "foundations": (
            "4 built up in suit from the rank of the base card, which the deal turns up,"
            " around the corner (an ace on a king)"
        ),
        "columns": "4, built down in alternating colours, around the corner (a king on an ace)",
        "carried together": "the whole pile, and only as a whole",
        "a space": (
            "filled at once from the reserve; when that is gone, only the top card of the waste"
        ),
        "stock": "3 cards at a time onto the waste, as often as you like",
        "won with": "52 cards on the foundations",
    }
    assert len({game.describe() for game in GAMES.values()}) == len(GAMES)


def test_the_registry_knows_every_game_by_its_name() -> None:
    assert list(GAMES) == [
        *("klondike", "canfield", "canfield-aisleriot", "lafayette", "lady-palk", "caprice")
    ]
    assert all(game.name == name for name, game in GAMES.items())


def test_a_game_is_one_page_of_at_most_40_lines() -> None:
    pages = [path for path in Path(games.__file__).parent.glob("*.py") if path.stem != "__init__"]
    assert len(pages) == len(GAMES)
    assert [path.name for path in pages if len(path.read_text("utf-8").splitlines()) > 40] == []

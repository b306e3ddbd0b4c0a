import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.positions import draw
from kit.walks import Step, steps
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.events import BoardChanged, BoardView
from saratoga_protocol.views import rules_view, wire_view
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.position import redact

ANY_STEP = st.sampled_from(sorted(GAMES)).flatmap(steps)


@given(ANY_STEP)
def test_a_view_survives_encoding_and_decoding(step: Step) -> None:
    view = redact(step.position)
    assert rules_view(wire_view(view)) == view


@given(ANY_STEP)
def test_the_legal_moves_follow_from_the_wire_view(step: Step) -> None:
    sent = wire_view(redact(step.position))
    assert legal_moves(step.game, rules_view(sent)) == list(step.legal)


@given(ANY_STEP)
def test_hidden_cards_are_not_encoded_even_without_redaction(
    step: Step,
) -> None:
    unredacted = wire_view(step.position)
    assert unredacted == wire_view(redact(step.position))
    frame = CODECS[JSON].encode(board(unredacted))
    assert isinstance(frame, str)
    assert HIDDEN not in frame


def test_face_down_cards_are_counted_on_the_wire() -> None:
    position = draw(LADY_PALK, "t1: KH\nt2: 5C 6D | 9D 8C\nt4: 2S | TC")
    sent = wire_view(position)
    assert sent.columns == ["KH", "9D8C", "", "TC", "", "", "", ""]
    assert sent.face_down == [0, 2, 0, 1, 0, 0, 0, 0]
    assert rules_view(sent) == redact(position)
    assert "5C" not in str(sent)


def test_the_wire_names_no_face_down_cards_where_there_are_none() -> None:
    frame = CODECS[JSON].encode(board(wire_view(redact(draw(LADY_PALK, "t1: KH")))))
    assert "face_down" not in str(frame)


def board(view: events.View) -> BoardChanged:
    return BoardChanged(
        board=BoardView(
            race="a/1", count=0, view=view, banked=0, net=0, state="racing", head="0" * 16
        ),
        place=1,
        entries=["0 1 draw"],
    )


VIEW = events.View(
    stock=3,
    waste="4D7H",
    reserve=2,
    reserve_top="6C",
    up=[1, 0, 0, 0],
    columns=["5D", "", "QS", "2S"],
    face_down=[0, 0, 3, 1],
    base=10,
)


@pytest.mark.parametrize(
    "change",
    [
        {"stock": -1},
        {"stock": 10**9},
        {"reserve": 105},
        {"reserve": 0},
        {"reserve_top": ""},
        {"reserve_top": "6C7C"},
        {"base": 0},
        {"base": 14},
        {"passes": 0},
        {"up": [1, 0]},
        {"up": [14, 0, 0, 0]},
        {"down": [-1, 0, 0, 0]},
        {"face_down": [0, 0, 3]},
        {"face_down": [0, 0, 0, 0]},
        {"face_down": [0, 0, 3, -1]},
        {"face_down": [0, 0, 3, 105]},
        {"face_down": [0, 1, 3, 0]},
        {"waste": "4D7"},
        {"waste": "XX"},
        {"columns": ["5D", "1S", "QS", "2S"]},
    ],
)
def test_an_impossible_view_is_refused(change: dict[str, object]) -> None:
    rules_view(VIEW)
    with pytest.raises(ValueError, match=r"\.$"):
        rules_view(replace(VIEW, **change))

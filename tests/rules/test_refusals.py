from saratoga_rules.moves import Carry
from saratoga_rules.refusals import IllegalMove, Refusal


def test_every_reason_is_a_different_sentence() -> None:
    sentences = [str(refusal) for refusal in Refusal]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)


def test_an_illegal_move_carries_the_move_and_the_reason() -> None:
    error = IllegalMove(Carry("t1", "t2", 3), Refusal.NOT_A_PACKET)
    assert (error.move, error.refusal) == (Carry("t1", "t2", 3), Refusal.NOT_A_PACKET)
    assert str(error) == "t1>t2:3: These cards cannot be lifted together."

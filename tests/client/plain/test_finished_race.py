"""The commands about a finished race."""

import pytest

from kit.finished_races import finished_race
from kit.plain_sessions import TypingPlayer
from kit.session_states import CODE, START, in_match, outcome, snapshot, state_after, table
from saratoga_client.session.state import SessionState
from saratoga_protocol import events
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import digest_of, format_record


def over() -> SessionState:
    return state_after(events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")))


async def test_review_share_and_verify_need_a_finished_race() -> None:
    player_at_table = TypingPlayer(state_after(first=snapshot("y1 =a1")))
    for command in ("review", "share", "verify"):
        assert await player_at_table.say(command) == ["no: No race is over yet."]
    player_at_table = TypingPlayer(over())
    assert (await player_at_table.say("verify"))[0].startswith("no: There is no such record.")
    assert "result 1. ana: 9 banked, -$5, cashed out" in await player_at_table.say("results")


async def test_verify_takes_the_four_words_that_a_friend_was_shown() -> None:
    record = finished_race()
    words = digest_words(digest_of(format_record(record)))
    typing = TypingPlayer(over(), record=record)
    for line in (f"verify #{words}", f"verify {record.race_id}#{words.upper()}"):
        lines = await typing.say(line)
        assert f"check words: ok, the four words of the digest are {words}" in lines
        assert lines[-1] == f"verified: {record.race_id} is verified: self-consistent only."
    assert typing.session.alarms == []
    lines = await typing.say("verify #oak-pear-lamp-river")
    assert any(line.startswith("check words: WRONG, ") for line in lines)
    assert lines[-1].startswith("alarm: NOT VERIFIED: 1 of ")
    assert len(typing.session.alarms) == 1
    (no,) = await typing.say("verify #oak-pear")
    assert no.startswith("no: 'oak-pear' are not the words of a digest: four words are needed")


@pytest.mark.parametrize("words", ["2", f"{CODE}/2", f"{CODE.upper()}/2"])
async def test_verify_takes_a_race_of_this_table_by_its_number(words: str) -> None:
    typing = TypingPlayer(over(), record=finished_race())
    await typing.say(f"verify {words}")
    assert typing.seat.asked == [f"record {CODE}/2"]


@pytest.mark.parametrize("words", ["0", "race 2", CODE, "1234567", f"{CODE}/x"])
async def test_verify_refuses_what_names_no_race_with_an_example(words: str) -> None:
    typing = TypingPlayer(over(), record=finished_race())
    assert await typing.say(f"verify {words}") == [
        f"no: Type verify 2 for race 2 of this table, or name its table, too: verify {CODE}/2."
    ]
    assert typing.seat.asked == []


async def test_the_last_race_can_be_seen_while_the_next_one_runs() -> None:
    record = finished_race()
    typing = TypingPlayer(over(), record=record)
    typing.writer.show(over())
    shown = await typing.say("results")
    typing.seat.change_to(state_after(first=snapshot(shown=table(race=f"{CODE}/2"))))
    assert await typing.say("results") == shown
    await typing.say("verify")
    assert typing.seat.asked == [f"record {CODE}/1"]
    typing.writer.pause()


async def test_the_shared_text_keeps_the_match_of_its_race_when_a_new_match_gathers() -> None:
    after = in_match(table(phase="over", version=9), "a9 y1", "a9 y1", "a9 y1")
    shown = state_after(
        events.TableChanged(table=after, now=START),
        events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")),
    )
    typing = TypingPlayer(shown, record=finished_race())
    typing.session.friends = "ws://192.168.1.7:7470"
    typing.writer.show(shown)
    new = in_match(table(phase="gathering", race=f"{CODE}/2"))
    typing.seat.change_to(state_after(first=snapshot(shown=new)))
    lines = await typing.say("share")
    assert "share: Match of 3 races: 1. ana -$15, 2. Zoë -$135" in lines
    assert "share: ana is the champion of the evening." in lines


async def test_review_of_a_running_race_says_what_is_possible_now() -> None:
    assert await TypingPlayer(state_after()).say("review") == [
        "no: The race goes on. Type review when it is over; results shows the last race."
    ]

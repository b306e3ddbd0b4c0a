"""Voided races: their records, their lines in the record of the race after them, and what is checked."""

from dataclasses import replace

import pytest

from kit.races import ANNA, Entrant, race, void_record
from kit.walks import banking
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.checks import Check
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import LogLine, digest_of, format_record, parse_record
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import (
    VoidedLog,
    VoidRecord,
    format_void_record,
    is_void_record,
    parse_void_record,
)
from saratoga_rules.records.void_replay import replay_faults, void_deal
from saratoga_rules.records.voided import (
    CLOSED,
    CLOSED_IN_COUNTDOWN,
    MOST_VOIDED,
    NONCE_MISSING,
    RACER_LEFT,
    SERVER_AWAY,
    VoidedLine,
)

# Voided races in the record of the race after them


AFTER = race("canfield", 5, [Entrant("Anna", banking, patience=6)])


def voided(number: int) -> VoidedLine:
    return void_record(f"{AFTER.table}/{number}", "lafayette").line


MANY_NONCES = {f"{'a' * 15}{letter}": "0a" * 16 for letter in "abcdefghijklmnopq"}
LEFT = replace(voided(1), reason=RACER_LEFT, logs=0, left="a" * 16)


@pytest.mark.parametrize(
    "races",
    [
        [voided(1)],
        [LEFT],
        [voided(1), replace(voided(2), seed="", commitment="", nonces={}, logs=0)],
    ],
)
def test_voided_races_written_and_read_are_the_same(races: list[VoidedLine]) -> None:
    record = replace(AFTER, voided=tuple(races))
    assert parse_record(format_record(record)) == record


@pytest.mark.parametrize(
    ("races", "said"),
    [
        ([replace(voided(1), cap=0, public=True)], "has a time limit"),
        ([replace(voided(1), reason=NONCE_MISSING, logs=1)], "has no logs"),
        ([replace(LEFT, left="")], "the racer who left"),
        ([replace(voided(1), left="a" * 16)], "voided-left"),
        ([replace(voided(1), missing={"a" * 16: "ab" * 32})], "has every nonce"),
        ([replace(voided(1), nonces=MANY_NONCES)], "more than 16 racers"),
        ([voided(number) for number in range(1, MOST_VOIDED + 2)], "more than 16"),
    ],
)
def test_voided_races_that_no_server_lists_are_refused(races: list[VoidedLine], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        parse_record(format_record(replace(AFTER, voided=tuple(races))))


# Records of voided races as text: one form only, and whether they keep what was promised


SEED = "5eed" * 16
ANNAS_LOG = VoidedLog(
    player="annaannaannaanna",
    name="Anna",
    bot=False,
    nonce="0a" * 16,
    log=(LogLine(502, 1, "draw"), LogLine(1132, 3, "cash-out")),
    complete=True,
)
ZOE = VoidedLog(
    player="zoezoezoezoezoez",
    name="Zo\u00eb",
    bot=True,
    nonce="0b" * 16,
    log=(LogLine(895, 2, "draw"),),
    complete=False,
)
RECORD = VoidRecord(
    game="canfield",
    rules_version=1,
    table="mint-otter-42",
    race=2,
    start_at=1788278400000,
    cap=10,
    public=True,
    reason="damaged",
    commitment=commitment(
        bytes.fromhex(SEED), "canfield", 1, "mint-otter-42", 2, cap=10, public=True
    ),
    seed=SEED,
    racers=(ANNAS_LOG, ZOE),
)


LEFT_RECORD = replace(
    RECORD,
    reason="racer-left",
    racers=tuple(replace(racer, log=(), complete=False) for racer in RECORD.racers),
    left=ANNAS_LOG.player,
)


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        LEFT_RECORD,
        replace(RECORD, seed="", commitment="", racers=(replace(ANNAS_LOG, nonce=""),)),
    ],
)
def test_a_void_record_written_and_read_is_the_same_record(record: VoidRecord) -> None:
    text = format_void_record(record)
    assert is_void_record(text)
    assert parse_void_record(text) == record


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("draw", "dr4w"),
        ("void record 1", "void record 2"),
        ("reason damaged", "reason tired"),
        ("log damaged", "log lost"),
        ("race mint-otter-42/2", "race mint-otter-42/02"),
        ("racer zoezoez", "racer aaaaaaa"),
    ],
)
def test_any_other_text_is_refused(old: str, new: str) -> None:
    with pytest.raises(RecordError):
        parse_void_record(format_void_record(RECORD).replace(old, new))


@pytest.mark.parametrize(
    "record",
    [
        replace(LEFT_RECORD, left=""),
        replace(LEFT_RECORD, left="x"),
        replace(RECORD, left=ANNAS_LOG.player),
    ],
)
def test_the_racer_who_left_stands_there_with_that_reason_only(record: VoidRecord) -> None:
    with pytest.raises(RecordError):
        parse_void_record(format_void_record(record))


def test_the_line_for_the_next_record_has_all_that_was_secret_but_the_logs() -> None:
    line = RECORD.line
    assert (line.race, line.reason, line.seed, line.logs) == (2, "damaged", SEED, 1)
    assert line.nonces == {ANNAS_LOG.player: ANNAS_LOG.nonce, ZOE.player: ZOE.nonce}


def test_an_honest_void_record_verifies_and_says_what_it_means() -> None:
    verdict = verify(format_void_record(RECORD))
    assert verdict.ok, verdict.faults
    assert verdict.void == RECORD
    (voided,) = (check.detail for check in verdict.checks if check.name == "voided")
    assert voided.startswith("the server's stored data of the race were damaged; 1 of 2 logs")


@pytest.mark.parametrize(
    ("record", "failed"),
    [
        (replace(RECORD, seed="00" * 32), "commitment"),
        (replace(RECORD, seed=""), "commitment"),
        (replace(RECORD, seed="", commitment=""), "commitment"),
        (replace(RECORD, racers=(replace(ANNAS_LOG, nonce=""), ZOE)), "nonces"),
    ],
    ids=["another seed", "no seed", "no seed and no commitment", "no nonce"],
)
def test_a_void_record_that_hides_something_is_not_verified(
    record: VoidRecord, failed: str
) -> None:
    assert [check.name for check in verify(format_void_record(record)).faults] == [failed]


def test_a_changed_line_breaks_the_digest() -> None:
    text = format_void_record(RECORD).replace("502 1 draw", "503 1 draw")
    assert "digest" in {check.name for check in verify(text).faults}
    assert digest_of(text) not in text


# The checks of voided races in the record of the race after them


def faults_of(*races: VoidedLine) -> list[str]:
    return [
        check.detail
        for check in verify(format_record(replace(AFTER, voided=races))).faults
        if check.name == "earlier"
    ]


def test_a_race_cannot_be_voided_after_the_race_of_the_record() -> None:
    assert "cannot stand here among those voided" in faults_of(voided(AFTER.race))[0]


def test_the_numbers_of_voided_races_lead_up_to_the_races_own_without_a_gap() -> None:
    first, second = voided(AFTER.race - 2), voided(AFTER.race - 1)
    assert faults_of(first, second) == faults_of(second) == []
    assert "cannot stand here" in faults_of(first)[0]


@pytest.mark.parametrize("reason", [NONCE_MISSING, SERVER_AWAY])
def test_a_countdown_voided_for_a_missing_nonce_names_it(reason: str) -> None:
    countdown = replace(voided(AFTER.race - 1), reason=reason, logs=0)
    assert "but every nonce was revealed" in faults_of(countdown)[0]
    assert faults_of(replace(countdown, missing={"b" * 16: "ab" * 32})) == []


def test_a_countdown_voided_because_a_racer_left_names_one_of_its_racers() -> None:
    countdown = replace(voided(AFTER.race - 1), reason=RACER_LEFT, logs=0, left="b" * 16)
    assert "none of its racers is named" in faults_of(countdown)[0]
    missing = {"b" * 16: "ab" * 32}
    assert faults_of(replace(countdown, missing=missing)) == []
    assert faults_of(replace(countdown, left=ANNA)) == []


def test_the_record_of_a_countdown_that_a_racer_left_names_the_racer_and_blames_nobody_else() -> (
    None
):
    (racer,) = void_record().racers
    revealed = replace(racer, log=(), complete=False)
    waiting = replace(revealed, player="b" * 16, name="Bert", nonce="", missing="ab" * 32)
    record = replace(void_record(), reason=RACER_LEFT, racers=(revealed, waiting), left=ANNA)
    verdict = verify(format_void_record(record))
    assert verdict.ok, verdict.faults
    said = {check.name: check.detail for check in verdict.checks}
    assert said["nonces"] == "the countdown ended before the nonce of Bert came"
    assert said["voided"].startswith("Anna left in the countdown; no race started.")
    lying = verify(format_void_record(replace(record, left="c" * 16)))
    assert [check.name for check in lying.faults] == ["voided"]


def test_a_closed_table_has_no_later_race() -> None:
    last = voided(AFTER.race - 1)
    assert "was closed in race" in faults_of(replace(last, reason=CLOSED))[0]
    countdown = replace(last, reason=CLOSED_IN_COUNTDOWN, logs=0)
    assert "was closed in race" in faults_of(countdown)[0]


def test_the_record_of_a_voided_countdown_verifies_and_names_who_did_not_reveal() -> None:
    (racer,) = void_record().racers
    revealed = replace(racer, log=(), complete=False)
    withheld = replace(revealed, player="b" * 16, name="Bert", nonce="", missing="ab" * 32)
    record = replace(void_record(), reason=NONCE_MISSING, racers=(revealed, withheld))
    verdict = verify(format_void_record(record))
    assert verdict.ok, verdict.faults
    assert "not revealed: the nonce of Bert" in [check.detail for check in verdict.checks]
    honest = verify(format_void_record(replace(record, racers=(revealed,))))
    assert [check.name for check in honest.faults] == ["voided"]


def test_a_voided_race_whose_seed_is_not_the_promised_one_is_a_fault() -> None:
    (fault,) = faults_of(replace(voided(AFTER.race - 1), seed="00" * 32))
    assert "has the commitment" in fault


@pytest.mark.parametrize("promise", [voided(AFTER.race - 1).commitment, ""])
def test_an_unreadable_seed_is_named_and_is_no_fault_of_the_race_after(promise: str) -> None:
    lost = replace(voided(AFTER.race - 1), seed="", commitment=promise)
    verdict = verify(format_record(replace(AFTER, voided=(lost,))))
    assert verdict.ok, verdict.faults
    (check,) = (check for check in verdict.checks if check.name == "earlier")
    assert f"commitment of {AFTER.table}/{AFTER.race - 1} could not be read" in check.detail


def test_an_honest_voided_race_verifies_and_is_named() -> None:
    verdict = verify(format_record(replace(AFTER, voided=(voided(AFTER.race - 1),))))
    assert verdict.ok, verdict.faults
    (check,) = (check for check in verdict.checks if check.name == "earlier")
    assert f"{AFTER.table}/{AFTER.race - 1}" in check.detail


# The deal and the logs of a voided race, as far as its record opens them


RACE = race("canfield", 3, [Entrant("Anna", banking, patience=6), Entrant("Ben", banking)])
VOID = VoidRecord(
    game=RACE.game,
    rules_version=RACE.rules_version,
    table=RACE.table,
    race=RACE.race,
    start_at=RACE.start_at,
    cap=RACE.cap,
    public=RACE.public,
    reason="damaged",
    commitment=RACE.commitment,
    seed=RACE.seed,
    racers=tuple(
        VoidedLog(
            player=racer.player,
            name=racer.name,
            bot=racer.bot,
            nonce=racer.nonce,
            log=racer.log,
            complete=True,
        )
        for racer in RACE.racers
    ),
)
RIGGED = replace(VOID.racers[0], log=(LogLine(1, 1, "w>up"),))


def deal_check(void: VoidRecord) -> Check:
    (check,) = (each for each in verify(format_void_record(void)).checks if each.name == "deal")
    return check


def test_the_deal_follows_from_the_seed_and_all_nonces() -> None:
    assert void_deal(VOID) == RACE.deal
    assert void_deal(replace(VOID, seed="")) is None
    unread = replace(VOID.racers[0], nonce="")
    assert void_deal(replace(VOID, racers=(unread, *VOID.racers[1:]))) is None


def test_rules_that_this_program_does_not_know_are_refused() -> None:
    with pytest.raises(ReplayError):
        void_deal(replace(VOID, rules_version=999))
    assert not deal_check(replace(VOID, rules_version=999)).ok


def test_a_log_marked_complete_that_does_not_replay_is_a_fault() -> None:
    void = replace(VOID, racers=(RIGGED, *VOID.racers[1:]))
    (fault,) = replay_faults(void, RACE.deal)
    assert fault.startswith(f"{RIGGED.name}, entry ")
    assert fault.endswith("though the log is marked complete")
    assert not deal_check(void).ok


def test_a_complete_log_that_goes_on_after_its_end_is_a_fault() -> None:
    first, *others = VOID.racers
    at = first.log[-1].at
    went_on = replace(first, log=(*first.log, LogLine(at, 99, "cash-out")))
    check = deal_check(replace(VOID, racers=(went_on, *others)))
    assert check.detail == f"{first.name}: the log continues after the board ended at {at} ms"
    assert not check.ok


def test_a_log_marked_damaged_is_not_replayed() -> None:
    void = replace(VOID, racers=(replace(RIGGED, complete=False), *VOID.racers[1:]))
    assert deal_check(void).ok
    assert "shows the damage" not in deal_check(void).detail


def test_a_record_in_which_everything_is_whole_says_that_it_shows_no_damage() -> None:
    assert verify(format_void_record(VOID)).ok
    assert "Nothing in this record shows the damage" in deal_check(VOID).detail


def test_a_race_with_results_cannot_be_voided_because_the_table_is_closed() -> None:
    closed = replace(VOID, reason=CLOSED)
    assert "every board had ended" in deal_check(closed).detail
    assert not deal_check(closed).ok
    first, *others = VOID.racers
    racing = replace(first, log=first.log[:-1])
    for racer in (racing, replace(first, complete=False)):
        check = deal_check(replace(closed, racers=(racer, *others)))
        assert check.ok, check
        assert "shows the damage" not in check.detail

"""Void records that a lying server shows of a race that was dealt."""

from dataclasses import replace

from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.void_record import VoidedLog, VoidRecord
from saratoga_rules.records.voided import NONCE_MISSING


def voided_without_ending_of(player: str, reason: str, record: RaceRecord) -> VoidRecord:
    """Return the record of a void in which a player's board still raced, though it had ended."""
    logs = [
        VoidedLog(
            player=racer.player,
            name=racer.name,
            bot=racer.bot,
            nonce=racer.nonce,
            log=racer.log[:-1] if racer.player == player else racer.log,
            complete=True,
        )
        for racer in record.racers
    ]
    return VoidRecord(
        game=record.game,
        rules_version=record.rules_version,
        table=record.table,
        race=record.race,
        start_at=record.start_at,
        cap=record.cap,
        public=record.public,
        reason=reason,
        commitment=record.commitment,
        seed=record.seed,
        racers=tuple(logs),
    )


def voided_as_a_countdown(player: str, record: RaceRecord) -> VoidRecord:
    """Return the record of a countdown in which a player's nonce never came, though the race was dealt."""
    void = voided_without_ending_of(player, NONCE_MISSING, record)
    logs = [
        replace(
            log,
            nonce="" if log.player == player else log.nonce,
            missing=log.nonce_hash if log.player == player else "",
            log=(),
            complete=False,
        )
        for log in void.racers
    ]
    return replace(void, racers=tuple(logs))

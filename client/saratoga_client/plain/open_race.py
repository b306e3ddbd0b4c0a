"""An open race in plain lines: the player's run, and how it compares."""

from saratoga_client.net.connection import Connection
from saratoga_client.plain.session import ExitReason, PlainSession
from saratoga_client.plain.table import stay_at_table
from saratoga_client.session.open_race import (
    NOT_YET,
    closed_record,
    ended,
    have_run,
    headline,
    histogram,
    link,
    look,
    notes,
    own_result,
    remember,
    result_line,
    share,
    title,
    until_over,
)
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.session.table_session import TableSession


async def run_open(
    connection: Connection, race: str, session: PlainSession, records: RecordStore | None = None
) -> ExitReason | None:
    """Run an open race unless the player had a run; write how the run compares. Raises `Problem`."""
    book, records = OpenBook(), records or RecordStore()
    shown, alarms = await look(connection, race, book)
    if shown.mine in NOT_YET and not shown.digest:
        session.output.write(f"run: {title(shown)}, {shown.cap} minutes; {have_run(shown)}")
        table = TableSession(connection, records=records)
        await table.enter_open(race)
        reason = await stay_at_table(table, session, begin=until_over)
        if reason is not ExitReason.LEFT:
            return reason
        shown, more = await look(connection, race, book)
        alarms += more
        remember(shown, connection.player, records, connection.now())
    if shown.digest:
        _, more = await closed_record(connection, race, book)
        alarms += more
        if not more:
            session.output.write("verified: the record of this race is right")
    session.alarms.extend(alarms)
    session.output.write_all(f"ALARM: {alarm}" for alarm in alarms)
    player, own = connection.player, own_result(shown, connection.player)
    session.output.write(f"run: {headline(shown, player)}")
    for counts, signs, is_own in histogram(shown.counts, own.banked if own else None):
        session.output.write(f"banked {counts}: {len(signs)}{', you' * is_own}")
    session.output.write_all(f"result {result_line(each)}" for each in ended(shown))
    session.output.write_all(f"run: {text}" for text in notes(shown, player))
    told = share(shown, player, link(shown, session.friends or connection.url))
    session.output.write_all(f"share: {line}" for line in told.splitlines())
    return ExitReason.LEFT

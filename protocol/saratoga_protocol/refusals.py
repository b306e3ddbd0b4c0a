"""The closed list of refusal codes, and the close codes of connections."""

from typing import Final

from msgspec import Struct


class Reason(Struct, frozen=True):
    """A reason: a code for programs, a sentence for people, and whether a program should retry."""

    code: str
    sentence: str
    retry: bool = False
    """True if a program should send the same command again, under the same id, after the wait."""


RETRY_WAIT: Final = 500
"""Milliseconds to wait before a retry, unless the refusal names a longer or shorter wait."""


_REASONS: Final = (
    # the frame
    Reason("bad_frame", "That frame could not be read."),
    Reason("bad_command", "That is not a command as the protocol describes it."),
    Reason("wrong_frame_kind", "This subprotocol wants the other kind of frame (binary or text)."),
    # identity
    Reason("hello_first", "Send hello before any other command."),
    Reason("hello_twice", "This connection has already sent hello."),
    Reason("wrong_token", "That token does not belong to this player."),
    Reason("banned", "The host of this server has banned this player."),
    Reason("name_needed", "Claim a name first."),
    Reason(
        "name_taken", "That name, or one like it, is taken or was given up lately. Choose another."
    ),
    Reason("bad_name", "That name cannot be used."),
    Reason("stale_id", "A command's id must be larger than the ids accepted before."),
    Reason("too_fast", "Too many requests. Wait a moment.", retry=True),
    # tables
    Reason("no_such_table", "There is no table with that code."),
    Reason("table_closed", "That table is closed."),
    Reason("watch_limit", "You watch too many tables. Stop watching one first."),
    Reason("table_full", "Every seat at that table is taken."),
    Reason("table_locked", "The host has locked that table: nobody new can take a seat."),
    Reason("not_seated", "You have no seat at that table."),
    Reason("elsewhere", "You have a seat at another table. Leave that table first."),
    Reason("kicked", "The host has kicked you from that table. Join another table."),
    Reason("host_only", "Only the host of the table may do that."),
    Reason("no_such_player", "That player does not sit at that table."),
    Reason("no_such_game", "There is no game of that name."),
    Reason("bad_settings", "Those table settings are not allowed. Change them and try again."),
    Reason("wrong_phase", "That is not possible in this phase of the table."),
    Reason("wrong_commitment", "The deal has changed. Look at the table, then get ready again."),
    Reason("wrong_nonce", "That nonce does not match the hash that you sent with ready."),
    Reason("ready_blocked", "You voided a countdown. Get ready when the host allows it."),
    Reason("nobody_ready", "At least the host must be ready. Get ready, then start."),
    Reason("draining", "This server is about to stop. Reconnect to continue.", retry=True),
    # races and boards
    Reason("no_such_race", "There is no such race."),
    Reason("not_racing", "You are not in that race."),
    Reason("too_early", "The host can end a race 60 s after all boards but one have ended."),
    Reason("board_over", "Your board has ended."),
    Reason("time_up", "The time is up."),
    Reason("board_full", "A board takes at most 5000 moves. Cash out."),
    Reason("bad_move", "That is not a move."),
    Reason("illegal_move", "The rules do not allow that move."),
    Reason("stale_move", "That move was meant for another position. Look again."),
    Reason("taken_over", "A newer connection of yours has taken over."),
    Reason("race_running", "The record opens when the race is over.", retry=True),
    # the server
    Reason("not_built", "This server does not offer that yet."),
    Reason("no_such_leaderboard", "There is no such leaderboard."),
    Reason(
        "store_unavailable",
        "The server cannot use its store at the moment. Wait and try again; nothing is done twice.",
        retry=True,
    ),
    Reason(
        "damaged",
        "The server's stored data for this are damaged. Its operator finds the reason in the log.",
    ),
    Reason(
        "server_fault",
        "The server failed on this command, and has logged why. Try again.",
        retry=True,
    ),
)

REASONS: Final = {reason.code: reason for reason in _REASONS}
"""Every reason by its code."""


class CloseCode(Struct, frozen=True):
    """A WebSocket close code and its reason. 4000-4499: reconnect, with jitter. 4500-4999: do not."""

    code: int
    reason: str


RESTARTING: Final = CloseCode(4000, "the server restarts; come back")
TOO_SLOW: Final = CloseCode(4001, "you read too slowly; come back")
STORE_LOST_DATA: Final = CloseCode(4002, "the server's store lost data; come back")
TAKEN_OVER: Final = CloseCode(4500, "a newer connection of this player took over")
NO_HELLO: Final = CloseCode(4501, "no hello in time")
ABUSE: Final = CloseCode(4502, "too many bad or too fast commands")
BANNED: Final = CloseCode(4503, "banned")
WRONG_SUBPROTOCOL: Final = CloseCode(4504, "speak saratoga.v1.msgpack or saratoga.v1.json")
DELETED: Final = CloseCode(4505, "this player was deleted on request")

MAY_RECONNECT: Final = range(4000, 4500)

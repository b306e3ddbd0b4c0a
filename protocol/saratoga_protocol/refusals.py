"""The closed list of refusal codes, and the close codes of connections."""

from typing import Final

from msgspec import Struct

REASONS: Final = {
    # the frame
    "bad_frame": "That frame could not be read.",
    "bad_command": "That is not a command as the protocol describes it.",
    "wrong_frame_kind": "This subprotocol wants the other kind of frame (binary or text).",
    # identity
    "hello_first": "Send hello before any other command.",
    "hello_twice": "This connection has already sent hello.",
    "wrong_token": "That token does not belong to this player.",
    "banned": "The host of this server has banned this player.",
    "name_needed": "Claim a name first.",
    "name_taken": "That name, or one like it, is taken or was given up lately. Choose another.",
    "bad_name": "That name cannot be used.",
    "too_fast": "Too many requests. Wait a moment.",
    # tables
    "no_such_table": "There is no table with that code.",
    "table_closed": "That table is closed.",
    "watch_limit": "You watch too many tables. Stop watching one first.",
    "table_full": "Every seat at that table is taken.",
    "table_locked": "The host has locked that table: nobody new can take a seat.",
    "not_seated": "You have no seat at that table.",
    "elsewhere": "You have a seat at another table. Leave that table first.",
    "kicked": "The host has kicked you from that table. Join another table.",
    "host_only": "Only the host of the table may do that.",
    "owner_only": "Only the owner of this server may do that.",
    "no_bots": "No bot can be added to that table now.",
    "no_such_player": "That player does not sit at that table.",
    "no_such_game": "There is no game of that name.",
    "bad_settings": "Those table settings are not allowed. Change them and try again.",
    "wrong_phase": "That is not possible in this phase of the table.",
    "wrong_commitment": "The deal has changed. Look at the table, then get ready again.",
    "wrong_nonce": "That nonce does not match the hash that you sent with ready.",
    "ready_blocked": "You voided a countdown. Get ready when the host allows it.",
    "nobody_ready": "At least the host must be ready. Get ready, then start.",
    "draining": "This server is about to stop. Reconnect to continue.",
    # races and boards
    "no_such_race": "There is no such race.",
    "not_racing": "You are not in that race.",
    "too_early": "The host can end a race 60 s after all boards but one have ended.",
    "board_over": "Your board has ended.",
    "time_up": "The time is up.",
    "board_full": "A board takes at most 5000 moves. Cash out.",
    "bad_move": "That is not a move.",
    "illegal_move": "The rules do not allow that move.",
    "stale_move": "That move was meant for another position. Look again.",
    "taken_over": "A newer connection of yours has taken over.",
    "race_running": "The record opens when the race is over.",
    "no_such_open": "There is no such open race.",
    "open_closed": "That race is closed.",
    "entered": "You have had your run on that deal.",
    # the server
    "not_built": "This server does not offer that yet.",
    "no_such_leaderboard": "There is no such leaderboard.",
    "store_unavailable": "The server cannot use its store now. Wait and try again; nothing is done twice.",
    "damaged": "The server's stored data for this are damaged. Its operator finds why in the log.",
    "server_fault": "The server failed on this command, and has logged why. Try again.",
}
"""Every code of a refusal, for programs, with its sentence for people."""

RETRIED: Final = ("too_fast", "draining", "store_unavailable", "server_fault")
"""The codes after which to send the same command again, under the same id, after the wait."""

RETRY_WAIT: Final = 500
"""Milliseconds to wait before a retry, unless the refusal names a longer or shorter wait."""


class CloseCode(Struct, frozen=True):
    """A WebSocket close code, and why. 4000-4499: reconnect, with jitter. 4500-4999: do not."""

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

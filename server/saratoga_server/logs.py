"""The server's log: one line per event, as text or as JSON.

Every line has time, level and event; then table, race, player and node if they apply; then the
event's other fields. Secrets are not logged: a field named after a token, a seed or hidden cards is
withheld, and long hexadecimal words, such as tokens, are replaced in all text.
"""

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

Plain: TypeAlias = str | int | float | bool | None
"""The types of a field. None of them can be a position or a view, so no hidden card is logged."""

ROOT: Final = "saratoga"
SECRET_WORDS: Final = frozenset(
    {"token", "tokens", "seed", "seeds", "nonce", "nonces", "deal_key", "secret", "password"}
    | {"position", "positions", "stock", "reserve", "deck"}
)
"""The words that mark a field as secret if its name contains one; such fields are not logged."""
LONGEST_TEXT: Final = 500
"""The greatest length of a field; the rest is cut off."""

_ORDER: Final = ("table", "race", "player", "node")
_BARE: Final = re.compile(r"[A-Za-z0-9_.:/+@%#,;<>\[\]()\-]+")
_SECRET_TEXT: Final = re.compile(r"[0-9A-Fa-f]{32,}")


class SecretInLog(ValueError):
    """A field that must not be logged. Raised in tests; in production the field is withheld."""


class EventLog:
    """A logger of events for one part of the server. A disabled level costs one comparison."""

    __slots__ = ("_logger",)

    def __init__(self, part: str) -> None:
        self._logger = logging.getLogger(f"{ROOT}.{part}")

    def debug(self, event: str, /, **fields: Plain) -> None:
        if self._logger.isEnabledFor(logging.DEBUG):
            self._write(logging.DEBUG, event, None, fields)

    def info(self, event: str, /, **fields: Plain) -> None:
        if self._logger.isEnabledFor(logging.INFO):
            self._write(logging.INFO, event, None, fields)

    def warning(self, event: str, /, **fields: Plain) -> None:
        if self._logger.isEnabledFor(logging.WARNING):
            self._write(logging.WARNING, event, None, fields)

    def error(self, event: str, /, *, fault: BaseException | None = None, **fields: Plain) -> None:
        """Write an error; `fault` adds the exception and where it was raised."""
        if self._logger.isEnabledFor(logging.ERROR):
            self._write(logging.ERROR, event, fault, fields)

    def _write(
        self, level: int, event: str, fault: BaseException | None, fields: dict[str, Plain]
    ) -> None:
        kept = _without_secrets(fields)
        self._logger.log(level, event, exc_info=fault, extra={"fields": kept})


class _State:
    """The settings that `set_up_logs` made."""

    raises = True
    """True if a secret in a field raises `SecretInLog`; a running server withholds it instead."""
    handler: logging.Handler | None = None


def _without_secrets(fields: dict[str, Plain]) -> dict[str, Plain]:
    secret = [name for name in fields if _is_secret(name)]
    if not secret:
        return fields
    if _State.raises:
        raise SecretInLog(f"{', '.join(secret)} must not be logged")
    kept = {name: value for name, value in fields.items() if name not in secret}
    return kept | {"withheld": ",".join(sorted(secret))}


def _is_secret(name: str) -> bool:
    return name in SECRET_WORDS or not SECRET_WORDS.isdisjoint(name.split("_"))


def set_up_logs(
    *,
    as_json: bool = False,
    level: str = "info",
    node: str = "",
    stream: "SupportsWrite[str] | None" = None,
    strict: bool = False,
) -> None:
    """Write all events to `stream` (default: standard error).

    Libraries' warnings and errors are written too, in the same form; at lower levels they would log
    whole frames. With `strict` a secret raises, as it does if this was never called.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_EventFormatter(node, as_json=as_json))
    root = logging.getLogger()
    if _State.handler is not None:
        root.removeHandler(_State.handler)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(ROOT).setLevel(level.upper())
    logging.captureWarnings(True)
    _State.handler, _State.raises = handler, strict


class _EventFormatter(logging.Formatter):
    """A formatter of lines such as `2026-09-01T12:00:00.000Z info  race_started`, or of JSON."""

    def __init__(self, node: str, *, as_json: bool) -> None:
        super().__init__()
        self._node = node
        self._as_json = as_json

    def _fields(self, record: logging.LogRecord) -> dict[str, Plain]:
        given: dict[str, Plain] = getattr(record, "fields", {})
        ours = record.name.partition(".")[0] == ROOT
        line: dict[str, Plain] = {
            "time": _timestamp(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage() if ours else record.name,
        }
        if not ours:
            line["text"] = record.getMessage()
        named = {name: value for name, value in given.items() if name not in line}
        named.setdefault("node", self._node)
        line |= {name: named[name] for name in _ORDER if named.get(name)}
        line |= {name: value for name, value in named.items() if name not in _ORDER}
        if record.exc_info and record.exc_info[1] is not None:
            line["fault"] = _described(record.exc_info[1])
        return {name: _redacted(value) for name, value in line.items()}

    def format(self, record: logging.LogRecord) -> str:
        fields = self._fields(record)
        if self._as_json:
            return _json(fields)
        time, level, event = fields.pop("time"), fields.pop("level"), fields.pop("event")
        rest = "".join(f" {name}={_word(value)}" for name, value in fields.items())
        return f"{time} {level:<7} {_word(event)}{rest}"


def _timestamp(seconds: float) -> str:
    """Return the time in ISO 8601, UTC, to the millisecond."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _described(fault: BaseException) -> str:
    """Return the error and its innermost frames on one line, without the values of variables."""
    frames = traceback.extract_tb(fault.__traceback__)[-4:]
    places = " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}:{frame.name}"
        for frame in reversed(frames)
    )
    return f"{type(fault).__name__}: {fault}" + (f" at {places}" if places else "")


def _redacted(value: Plain) -> Plain:
    if not isinstance(value, str):
        return value
    text = _SECRET_TEXT.sub("<hex>", value)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "..."


def _word(value: Plain) -> str:
    """Return the value as text, quoted if it has blanks or line breaks."""
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    text = str(value)
    return text if _BARE.fullmatch(text) else _json(text)


def _json(value: object) -> str:
    """Return the value as JSON in visible ASCII characters."""
    return json.dumps(value).replace("\x7f", "\\u007f")

"""What a host may set: each by flag, or by environment, or left at its default.

A flag wins over the environment, the environment over the default. Whatever cannot work is
refused before anything is started, with a sentence that says what to write instead.
"""

import functools
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import click

from saratoga_server.store.addresses import addresses
from saratoga_server.store.durability import Durability

DEFAULT_PORT: Final = 7470
DEFAULT_METRICS_PORT: Final = 7471
DEFAULT_RATE: Final = 50
DEFAULT_BURST: Final = 100

_REDIS_SCHEMES: Final = ("redis", "rediss", "unix")
_PUBLIC_SCHEMES: Final = ("http", "https", "ws", "wss")
_ORIGIN_SCHEMES: Final = ("http", "https")

_R = TypeVar("_R")
_Command = TypeVar("_Command", bound=Callable[..., object])


class LogFormat(StrEnum):
    """How a line of the log is written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least urgent events that are logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class BadSettings(ValueError):
    """These settings do not go together; the text says which, and what to do."""


class CannotStart(Exception):
    """The house cannot open as it is set; the text says why, and what to do."""


def default_data() -> Path:
    """The folder of the user's own where the house keeps its store."""
    # where none is named
    import platformdirs

    return platformdirs.user_data_path("saratoga", appauthor=False)


def random_node() -> str:
    """A name for this server process that no other node has."""
    return f"node-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that was set. The defaults are those of a house among friends on one machine."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    """0: any free port; the ready line names it."""
    redis: str | None = field(default=None, repr=False)
    """Where the store is; `None`: the embedded one, in `data`."""
    data: Path = field(default_factory=default_data)
    durability: Durability = Durability.SAFE
    trust_store: bool = False
    """Start although the store cannot be asked how it is set up."""
    public_url: str | None = None
    """What friends connect to, where it is not simply host and port."""
    origins: tuple[str, ...] = ()
    """Pages whose browsers may connect. Programs other than browsers name no origin, and may."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    metrics_port: int | None = DEFAULT_METRICS_PORT
    """0: any free port. `None`: no metrics."""
    metrics_host: str = "127.0.0.1"
    """Whoever reaches it may read it: another address than loopback belongs in a network of one's own."""
    log_format: LogFormat = LogFormat.TEXT
    log_level: LogLevel = LogLevel.INFO
    rate: int = DEFAULT_RATE
    """Commands a second from one connection, in the long run. 0: no limit."""
    burst: int = DEFAULT_BURST
    """Commands that may come at once."""
    trusted_proxies: int = 0
    """How many proxies of the host's own every connection comes through."""
    limits_per_address: float | None = 1.0
    """What an address may do, in measures of sixteen friends with their bots. `None`: anything."""
    node: str = field(default_factory=random_node)
    workers: int = 0
    """Processes that share the port, under one more that looks after them. 0: this process alone."""
    drain_delay: float = 0.0
    """Seconds between being told to stop and doing so: for balancers to notice."""
    until_eof: bool = False
    """End in order when the standard input ends: it is a pipe to the program that opened the house."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        _check_port("--port", self.port)
        if self.metrics_port is not None:
            _check_port("--metrics-port", self.metrics_port)
            if self.metrics_port == self.port != 0:
                raise BadSettings("--metrics-port and --port are the same. Choose another.")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise BadSettings("--tls-cert and --tls-key go together. Give both, or neither.")
        _check_redis(self.redis)
        _check_public_url(self.public_url)
        for origin in self.origins:
            _check_origin(origin)
        if self.rate < 0 or self.burst < 1:
            raise BadSettings("--rate is 0 (no limit) or more, and --burst is 1 or more.")
        if self.trusted_proxies < 0:
            raise BadSettings("--trusted-proxies is 0 (none) or more.")
        if not self.node or not self.node.isascii() or not self.node.isprintable():
            raise BadSettings("--node is a name of printable ASCII characters, such as east-1.")
        self._check_workers()

    def _check_workers(self) -> None:
        if self.workers < 0:
            raise BadSettings("--workers is 0 (none: one process) or more.")
        if self.drain_delay < 0:
            raise BadSettings("--drain-delay is 0 seconds or more.")
        if self.workers and self.metrics_port:
            last = self.metrics_port + self.workers - 1
            _check_port("The metrics port of the last worker", last)
            if self.metrics_port <= self.port <= last:
                raise BadSettings(
                    f"The workers' metrics ports, {self.metrics_port} to {last}, take in --port "
                    f"{self.port}. Choose another --metrics-port."
                )

    @property
    def is_tls(self) -> bool:
        """Whether the server itself speaks TLS."""
        return self.tls_cert is not None

    @property
    def store_folder(self) -> Path:
        """Where the embedded store keeps its files."""
        return self.data / "store"

    @property
    def store_shown(self) -> str:
        """The store, as a log may name it: without its password."""
        return "embedded" if self.redis is None else without_password(self.redis)

    def invitation(self, port: int) -> str:
        """What friends connect to. `port` is the real one, where 0 was set."""
        if self.public_url is not None:
            return self.public_url
        scheme = "wss" if self.is_tls else "ws"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{port}"


def cannot_listen(settings: Settings, fault: OSError) -> CannotStart:
    """Why nobody can be let in, in a sentence."""
    return CannotStart(
        f"{settings.host}:{settings.port} cannot be opened ({fault.strerror or fault}). "
        "Choose another with --host and --port."
    )


def without_password(url: str) -> str:
    """The URL, or each of several, with user, password and whatever a query may hold left out."""
    shown = (
        f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        for parts in map(urlsplit, addresses(url))
    )
    return ",".join(shown)


def _check_port(flag: str, port: int) -> None:
    if not 0 <= port <= 65535:
        raise BadSettings(f"{flag} is 0 (any free port) to 65535, not {port}.")


def _check_redis(url: str | None) -> None:
    for each in () if url is None else addresses(url):
        parts = urlsplit(each)
        if parts.scheme not in _REDIS_SCHEMES or not (parts.netloc or parts.path):
            raise BadSettings(
                "--redis is a URL such as redis://localhost:6379/0, rediss://... or "
                "unix:///run/redis.sock; of a cluster's nodes several, separated by commas."
            )


def _check_public_url(url: str | None) -> None:
    if url is None:
        return
    parts = urlsplit(url)
    if parts.scheme not in _PUBLIC_SCHEMES or not parts.hostname:
        raise BadSettings("--public-url is a URL such as wss://patience.example.org.")


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in _ORIGIN_SCHEMES or not parts.hostname or origin.endswith("/"):
        raise BadSettings(
            f"--origin {origin} is not an origin. Write scheme and host, without a path: "
            "https://patience.example.org."
        )
    if parts.path or parts.query or parts.fragment:
        raise BadSettings(f"--origin {origin} has a path. Write scheme and host only.")


def _read_metrics_port(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """Read a port or `off`; unless told otherwise, any free one beside any free main port."""
    if value is None:
        return 0 if context.params.get("port") == 0 else DEFAULT_METRICS_PORT
    if value.lower() == "off":
        return None
    if not value.isascii() or not value.isdigit():
        raise click.BadParameter(f"{value} is neither a port nor off.", context, parameter)
    return int(value)


def _read_factor(context: click.Context, parameter: click.Parameter, value: str) -> float | None:
    """Read a number above 0, or `off`."""
    if value.lower() == "off":
        return None
    try:
        factor = float(value)
    except ValueError:
        factor = 0.0
    if not 0 < factor < math.inf:
        raise click.BadParameter(
            f"{value} is neither a number above 0 nor off.", context, parameter
        )
    return factor


_FILE: Final = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
_FOLDER: Final = click.Path(file_okay=False, path_type=Path)


def _option(flag: str, *names: str, **how: Any) -> Callable[[_Command], _Command]:  # click's own
    """Make an option that the environment can give too: `--tls-key` is SARATOGA_TLS_KEY."""
    how.setdefault("show_default", True)
    variable = "SARATOGA_" + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **how)


_OPTIONS: Final = (
    # --port is eager: what --metrics-port is by default depends on it
    _option("--host", default="127.0.0.1", metavar="ADDRESS",
        help="Address to listen on; 0.0.0.0 lets other machines in."),
    _option("--port", type=int, default=DEFAULT_PORT, is_eager=True,
        help="Port for players and HTTP; 0 takes a free one."),
    _option("--public-url", metavar="URL",
        help="What friends connect to, if a proxy stands before this server."),
    _option("--origin", "origins", multiple=True, metavar="URL",
        help="A page whose browsers may connect; give it once for each. Programs may always."),
    _option("--tls-cert", type=_FILE, help="Certificate chain (PEM), to speak TLS."),
    _option("--tls-key", type=_FILE, help="Its private key (PEM)."),
    _option("--redis", metavar="URL", show_default="embedded",
        help="Store to use: redis://, rediss:// or unix:// (Redis or Valkey, 7.0 or newer)."),
    _option("--redis-file", "redis_file", type=_FILE,
        help="File that holds the address for --redis: a password in it is seen by nobody."),
    _option("--data", type=_FOLDER, default=default_data, metavar="DIR",
        show_default="the user's data folder",
        help="Folder of the embedded store; it is kept between runs."),
    _option("--durability", type=click.Choice(Durability, case_sensitive=False),
        default=Durability.SAFE.value,
        help="What an acknowledged move has survived: a crash of the server (fast), of the "
        "machine (safe), the loss of the store's machine (replicated)."),
    _option("--trust-store", is_flag=True, show_default=False,
        help="Start although the store does not let its configuration be read."),
    _option("--rate", type=click.IntRange(min=0), default=DEFAULT_RATE,
        help="Commands a second that one connection may send in the long run; 0 is no limit."),
    _option("--burst", type=click.IntRange(min=1), default=DEFAULT_BURST,
        help="Commands that one connection may send at once."),
    _option("--trusted-proxies", type=click.IntRange(min=0), default=0, metavar="N",
        help="Proxies of yours before this server: a client's address is the N-th from the right "
        "of X-Forwarded-For."),
    _option("--limits-per-address", metavar="FACTOR|off", callback=_read_factor, default="1",
        help="What one address may do, in measures of sixteen friends with their bots."),
    _option("--metrics-port", metavar="PORT|off", callback=_read_metrics_port,
        show_default=str(DEFAULT_METRICS_PORT),
        help="Port for Prometheus; 0 takes a free one."),
    _option("--metrics-host", default="127.0.0.1", metavar="ADDRESS",
        help="Address for Prometheus; anything but loopback only in a network of your own."),
    _option("--log-format", type=click.Choice(LogFormat, case_sensitive=False),
        default=LogFormat.TEXT.value, help="Lines for people, or JSON for programs."),
    _option("--log-level", type=click.Choice(LogLevel, case_sensitive=False),
        default=LogLevel.INFO.value, help="Least urgent events to log."),
    _option("--node", default=random_node, metavar="NAME", show_default="random",
        help="Name of this server process, different for each that shares a store."),
    _option("--workers", type=click.IntRange(min=0), default=0, metavar="N",
        help="Processes to share the work on one port; 0 is this process alone. SIGHUP replaces "
        "them one after the other."),
    _option("--drain-delay", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
        help="Time between being told to stop and doing so, for balancers to notice."),
    _option("--until-eof", is_flag=True, show_default=False,
        help="End when the standard input does: for a program that opens a house of its own."),
)  # fmt: skip


def settings_options(command: Callable[..., _R]) -> Callable[..., _R]:
    """Give a command all the options; it is called with them as one `settings`.

    What does not go together ends the program with the reason (exit code 2).
    """

    @functools.wraps(command)
    def with_settings(*args: object, **given: object) -> _R:
        mine = {name: given.pop(name) for name in _NAMES}
        try:
            mine["redis"] = _address(mine["redis"], given.pop("redis_file"))
            settings = Settings(**mine)  # type: ignore[arg-type]  # the options give the types
        except BadSettings as fault:
            raise click.UsageError(str(fault)) from None
        return command(*args, settings=settings, **given)

    decorated: Callable[..., _R] = with_settings
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _address(said: object, file: object) -> object:
    """The store's address, said or read from a file."""
    if not isinstance(file, Path):
        return said
    if said is not None:
        raise BadSettings("--redis and --redis-file are the same setting. Give one of them.")
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise BadSettings(f"{file} cannot be read ({fault}).") from None


_NAMES: Final = tuple(each.name for each in fields(Settings))

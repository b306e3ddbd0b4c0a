"""The server's configuration: command-line options, environment variables, defaults.

An option overrides its environment variable, which overrides the default. Values that cannot work
are refused before anything is started, with a message that says what to write instead.
"""

import functools
import math
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import SplitResult, urlsplit

import click

from saratoga_server.domain.tables import RankedTables
from saratoga_server.ports import Durability
from saratoga_server.store.addresses import SENTINELS, fault_in, has_password

DEFAULT_PORT: Final = 7470
DEFAULT_METRICS_PORT: Final = 7471
DEFAULT_RATE: Final = 50
DEFAULT_BURST: Final = 100
LONGEST_DRAIN_DELAY: Final = 3600
LEVELS: Final = ("debug", "info", "warning", "error")
LEAST_BURST: Final = 10
"""The cost of the most expensive command: with a smaller burst it would be refused for ever."""

_PLAYER_ID: Final = re.compile("[a-z2-7]{16}")
_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - listens everywhere
_PUBLIC_SCHEMES: Final = ("http", "https", "ws", "wss")
_ORIGIN_SCHEMES: Final = ("http", "https")

_R = TypeVar("_R")
_Command = TypeVar("_Command", bound=Callable[..., object])


class InvalidConfig(ValueError):
    """A value that cannot work, or two that contradict each other; the text says what to do."""


class StartupError(Exception):
    """A configuration with which the server cannot start; the text says why, and what to do."""


def default_data() -> Path:
    """Return the user's data folder for this program."""
    import platformdirs  # rarely needed: most servers set --data or --redis

    return platformdirs.user_data_path("saratoga", appauthor=False)


def random_node() -> str:
    """Return a random node name, different from that of every other server process."""
    return f"node-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All options of the server. The defaults suit a server for friends on one machine."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    """The port for players and HTTP; 0: a free port, which the ready line names."""
    redis: str | None = field(default=None, repr=False)
    """The store's URL; `None`: the embedded store, in `data`."""
    is_password_exposed: bool = False
    """True if that URL has a password and stands on the command line, for all users to read."""
    data: Path = field(default_factory=default_data)
    durability: Durability = Durability.SAFE
    trust_store: bool = False
    """Start even if the store does not let its configuration be read."""
    public_url: str | None = None
    """The URL that players connect to; `None`: host and port."""
    origins: tuple[str, ...] = ()
    """Origins of web pages that may connect. Other programs always may."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    metrics_port: int | None = DEFAULT_METRICS_PORT
    """The port of the metrics; 0: a free port, `None`: no metrics."""
    metrics_host: str = "127.0.0.1"
    """The address of the metrics, which need no password: use loopback or a private network."""
    log_format: str = "text"
    log_level: str = "info"
    """The lowest level that is logged."""
    rate: int = DEFAULT_RATE
    """Sustained commands a second of one player. 0: no limit."""
    burst: int = DEFAULT_BURST
    """The number of commands that a player may send at once."""
    trusted_proxies: int = 0
    """The number of the operator's own proxies that every connection passes."""
    limits_per_address: float | None = 1.0
    """A factor for the limits per address; 1 fits sixteen friends with bots. `None`: no limits."""
    ranked: RankedTables = RankedTables.ALL
    owner: str = ""
    """The player id of the server's owner; empty: nobody."""
    bots: bool = False
    """Start a bot host, which offers bots to all tables."""
    node: str = field(default_factory=random_node)
    drain_delay: float = 0.0
    """Seconds from a shutdown request to closing, so that load balancers stop sending players."""
    until_eof: bool = False
    """Stop when standard input, a pipe from the program that started the server, is closed."""

    def __post_init__(self) -> None:
        """Raise `InvalidConfig` for values that cannot work."""
        if not self.host or not self.metrics_host:
            raise InvalidConfig(
                "--host and --metrics-host must not be empty; 0.0.0.0 = everywhere."
            )
        _check_port("--port", self.port)
        if self.metrics_port is not None:
            _check_port("--metrics-port", self.metrics_port)
            if self.metrics_port == self.port != 0:
                raise InvalidConfig("--metrics-port and --port are the same port. Choose another.")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidConfig("--tls-cert and --tls-key need each other. Give both or neither.")
        _check_redis(self.redis, self.durability)
        _check_public_url(self.public_url)
        for origin in self.origins:
            _check_origin(origin)
        if self.owner and not _PLAYER_ID.fullmatch(self.owner):
            raise InvalidConfig(
                f"--owner {self.owner} is not a player id. 'saratoga token show URL' prints yours."
            )
        if self.bots and self.is_tls and self.public_url is None:
            raise InvalidConfig(
                "--bots and --tls-cert need --public-url, by which the bots connect. Give it, too."
            )
        if not self.node or not self.node.isascii() or not self.node.isprintable():
            raise InvalidConfig("--node must be printable ASCII characters, such as east-1.")
        if not 0 <= self.drain_delay <= LONGEST_DRAIN_DELAY:
            raise InvalidConfig(f"--drain-delay must be 0 to {LONGEST_DRAIN_DELAY} seconds.")

    @property
    def is_tls(self) -> bool:
        """True if the server itself terminates TLS."""
        return self.tls_cert is not None

    @property
    def store_folder(self) -> Path:
        """The folder of the embedded store's files."""
        return self.data / "store"

    @property
    def store_shown(self) -> str:
        """The store's address for logs, without its password."""
        return "embedded" if self.redis is None else without_password(self.redis)

    def invitation(self, port: int) -> str:
        """Return the address that players connect to; the server listens on `port`."""
        return self.public_url or self._address(self.host, port)

    def address_here(self, port: int) -> str:
        """Return the address by which programs of this machine connect to this `port`."""
        if self.is_tls and self.public_url:  # the certificate is for that name
            return re.sub("^http", "ws", self.public_url)
        return self._address(_LOOPBACK.get(self.host, self.host), port)

    def _address(self, host: str, port: int) -> str:
        scheme = "wss" if self.is_tls else "ws"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


EXPOSURE_WARNING: Final = (
    "Every user of this machine can read the store's password on the command line. Put the URL "
    "into a file that only you can read, and name it with --redis-file, or set SARATOGA_REDIS."
)
"""The warning for `Config.is_password_exposed`."""


def without_password(url: str) -> str:
    """Return a URL without user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _check_port(flag: str, port: int) -> None:
    if not 0 <= port <= 65535:
        raise InvalidConfig(f"{flag} must be 0 (a free port) to 65535, not {port}.")


def _check_redis(url: str | None, durability: Durability) -> None:
    fault = None if url is None else fault_in(url)
    if fault is not None:
        raise InvalidConfig(
            f"The URL of --redis or --redis-file cannot be used. {fault} Give a URL such as "
            "redis://localhost:6379/0, rediss://... or unix:///run/redis.sock."
        )
    is_watched = url is not None and url.startswith(SENTINELS)
    if is_watched != (durability is Durability.REPLICATED):
        raise InvalidConfig(
            "--durability replicated and a store under Sentinels need each other. Give both, as "
            "in --redis sentinel://HOST,HOST,HOST/NAME --durability replicated, or neither."
        )


def _split(url: str) -> SplitResult:
    """Return the parts of a URL; no parts if it is malformed."""
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 else SplitResult("", "", "", "", "")
    except ValueError:
        return SplitResult("", "", "", "", "")


def _check_public_url(url: str | None) -> None:
    if url is None:
        return
    parts = _split(url)
    if parts.scheme not in _PUBLIC_SCHEMES or not parts.hostname:
        raise InvalidConfig("--public-url must be a URL such as wss://patience.example.org.")


def _check_origin(origin: str) -> None:
    parts = _split(origin)
    if parts.scheme not in _ORIGIN_SCHEMES or not parts.hostname or origin.endswith("/"):
        raise InvalidConfig(
            f"--origin {origin} is not an origin. Write scheme and host without a path: "
            "https://patience.example.org."
        )
    if parts.path or parts.query or parts.fragment:
        raise InvalidConfig(f"--origin {origin} has a path. Write only scheme and host.")


def _read_metrics_port(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """Return the port of the metrics; `None` for `off`. The default is 0 if `--port` is."""
    if value is None:
        return 0 if context.params.get("port") == 0 else DEFAULT_METRICS_PORT
    if value.lower() == "off":
        return None
    if not value.isascii() or not value.isdigit():
        raise click.BadParameter(f"{value} is neither a port nor 'off'.", context, parameter)
    return int(value)


def _read_factor(context: click.Context, parameter: click.Parameter, value: str) -> float | None:
    """Return the factor, a number above 0; `None` for `off`."""
    if value.lower() == "off":
        return None
    try:
        factor = float(value)
    except ValueError:
        factor = 0.0
    if not 0 < factor < math.inf:
        raise click.BadParameter(
            f"{value} is neither a number above 0 nor 'off'.", context, parameter
        )
    return factor


_FILE: Final = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
_FOLDER: Final = click.Path(file_okay=False, path_type=Path)


def _option(flag: str, *names: str, **how: Any) -> Callable[[_Command], _Command]:
    """Return an option with an environment variable: SARATOGA_TLS_KEY for `--tls-key`."""
    how.setdefault("show_default", True)
    variable = "SARATOGA_" + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **how)


_OPTIONS: Final = (
    # --port is eager: the default of --metrics-port depends on it
    _option("--host", default="127.0.0.1", metavar="ADDRESS",
        help="Address to listen on; 0.0.0.0 accepts players from other machines."),
    _option("--port", type=int, default=DEFAULT_PORT, is_eager=True,
        help="Port for players and HTTP; 0 = any free port."),
    _option("--public-url", metavar="URL",
        help="Address that players connect to, if this server is behind a proxy."),
    _option("--origin", "origins", multiple=True, metavar="URL",
        help="Origin of a web page that may connect; repeat it for each. Other programs than browsers "
        "may always connect."),
    _option("--tls-cert", type=_FILE, help="Certificate chain for TLS (PEM)."),
    _option("--tls-key", type=_FILE, help="Private key of the certificate (PEM)."),
    _option("--redis", metavar="URL", show_default="embedded",
        help="URL of the store: redis://, rediss://, unix:// or sentinel:// (Redis or Valkey, 7.0 or newer)."),
    _option("--redis-file", "redis_file", type=_FILE,
        help="File with the URL for --redis; keeps the URL's password out of command lines."),
    _option("--data", type=_FOLDER, default=default_data, metavar="DIR",
        show_default="the user's data folder",
        help="Folder of the embedded store, kept between runs."),
    _option("--durability", type=click.Choice(Durability, case_sensitive=False),
        default=Durability.SAFE.value,
        help="What an acknowledged move survives: a crash of the server (fast), a crash "
        "of the machine (safe), or the loss of the store's machine (replicated)."),
    _option("--trust-store", is_flag=True, show_default=False,
        help="Start even if the store does not let its configuration be checked."),
    _option("--rate", type=click.IntRange(min=0), default=DEFAULT_RATE,
        help="Commands per second that one player may send over time; 0 = no limit."),
    _option("--burst", type=click.IntRange(min=LEAST_BURST), default=DEFAULT_BURST,
        help="Commands that one player may send at once."),
    _option("--trusted-proxies", type=click.IntRange(min=0), default=0, metavar="N",
        help="Number of your own proxies in front of this server. A client's address is entry N from "
        "the right of X-Forwarded-For."),
    _option("--limits-per-address", metavar="FACTOR|off", callback=_read_factor, default="1",
        help="Factor for the limits per address; 1 fits sixteen friends with bots; off = no limits."),
    _option("--ranked", type=click.Choice(RankedTables, case_sensitive=False),
        default=RankedTables.ALL.value,
        help="Tables whose races count for the leaderboards: all, or only public ones."),
    _option("--owner", default="", metavar="PLAYER", show_default="nobody",
        help="Player id of this server's owner, who may offer bots to all tables."),
    _option("--bots", is_flag=True, show_default=False,
        help="Start a program whose bots the hosts of tables can add."),
    _option("--metrics-port", metavar="PORT|off", callback=_read_metrics_port,
        show_default=str(DEFAULT_METRICS_PORT),
        help="Port of the Prometheus metrics; 0 = any free port."),
    _option("--metrics-host", default="127.0.0.1", metavar="ADDRESS",
        help="Address of the metrics, which have no password: choose an address other than loopback "
        "only in a private network."),
    _option("--log-format", type=click.Choice(("text", "json"), case_sensitive=False),
        default="text", help="Log lines as text for people or as JSON for programs."),
    _option("--log-level", type=click.Choice(LEVELS, case_sensitive=False), default="info",
        help="Lowest level to log."),
    _option("--node", default=random_node, metavar="NAME", show_default="random",
        help="Name of this server process, unique among those that share a store."),
    _option("--drain-delay", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
        help="Time between a shutdown request and closing, for load balancers to notice."),
    _option("--until-eof", is_flag=True, show_default=False,
        help="Stop when standard input ends, for programs that start their own server."),
)  # fmt: skip


def config_options(command: Callable[..., _R]) -> Callable[..., _R]:
    """Return a command with all options added; it is called with one argument, `config`.

    A configuration that cannot work ends the program with the reason (exit code 2).
    """

    @functools.wraps(command)
    def with_config(*args: object, **values: object) -> _R:
        options = {name: values.pop(name) for name in _NAMES}
        try:
            exposed = exposes_password(click.get_current_context(), options["redis"])
            options["redis"] = _redis_url(options["redis"], values.pop("redis_file"))
            config = Config(**options, is_password_exposed=exposed)  # type: ignore[arg-type]  # as declared
        except InvalidConfig as error:
            raise click.UsageError(str(error)) from None
        return command(*args, config=config, **values)

    decorated: Callable[..., _R] = with_config
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def exposes_password(context: click.Context, url: object) -> bool:
    """Test whether `--redis` was given on the command line with a password."""
    source = context.get_parameter_source("redis")
    is_said = source is click.core.ParameterSource.COMMANDLINE
    return is_said and isinstance(url, str) and fault_in(url) is None and has_password(url)


def _redis_url(url: object, file: object) -> object:
    """Return the store's URL, as given or read from a file."""
    if not isinstance(file, Path):
        return url
    if url is not None:
        raise InvalidConfig("--redis and --redis-file both set the store. Give one of them.")
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfig(
            f"{file} cannot be read ({error}). Give --redis-file a readable text file with the store's URL."
        ) from None


_NAMES: Final = tuple(each.name for each in fields(Config) if each.name != "is_password_exposed")

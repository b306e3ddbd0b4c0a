"""Options of the server, and its log without secrets."""

import io
import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from kit.messages import TRICKS
from saratoga_server.config import Config, config_options, without_password
from saratoga_server.domain.tables import RankedTables
from saratoga_server.logs import LONGEST_TEXT, SECRET_WORDS, EventLog, SecretInLog, set_up_logs
from saratoga_server.ports import Durability

# Configuration by option, environment variable and default


def run(*arguments: str, environment: dict[str, str] | None = None) -> tuple[Result, list[Config]]:
    """Run a command that has the options; return its result, and the config if it got one."""
    seen: list[Config] = []

    @click.command()
    @config_options
    def serve(config: Config) -> None:
        seen.append(config)

    return CliRunner().invoke(serve, arguments, env=environment or {}), seen


def test_a_server_among_friends_needs_no_option() -> None:
    result, [config] = run()
    assert result.exit_code == 0
    assert config == Config(node=config.node)
    assert config.port == 7470
    assert config.host == "127.0.0.1"
    assert config.durability is Durability.SAFE
    assert config.redis is None


def test_every_value_has_an_option() -> None:
    result, [config] = run(
        *("--host", "0.0.0.0", "--port", "9000", "--public-url", "wss://p.example.org"),
        *("--origin", "https://a.example.org", "--origin", "http://localhost:8000"),
        *("--redis", "redis://store:6379/2", "--data", "folder", "--durability", "fast"),
        *("--trust-store", "--rate", "10", "--burst", "20", "--metrics-port", "off"),
        *("--trusted-proxies", "1", "--limits-per-address", "2.5", "--ranked", "public"),
        *("--metrics-host", "10.0.0.1"),
        *("--log-format", "json", "--log-level", "debug", "--node", "east-1", "--until-eof"),
        *("--drain-delay", "1.5", "--owner", "abcdefghijklmnop", "--bots"),
    )
    assert result.exit_code == 0
    assert config == Config(
        host="0.0.0.0",
        port=9000,
        public_url="wss://p.example.org",
        origins=("https://a.example.org", "http://localhost:8000"),
        redis="redis://store:6379/2",
        data=Path("folder"),
        durability=Durability.FAST,
        trust_store=True,
        rate=10,
        trusted_proxies=1,
        limits_per_address=2.5,
        ranked=RankedTables.PUBLIC,
        burst=20,
        metrics_port=None,
        metrics_host="10.0.0.1",
        log_format="json",
        log_level="debug",
        node="east-1",
        until_eof=True,
        drain_delay=1.5,
        owner="abcdefghijklmnop",
        bots=True,
    )


def test_an_environment_variable_stands_in_for_an_option() -> None:
    _, [config] = run(
        environment={
            "SARATOGA_PORT": "9001",
            "SARATOGA_DURABILITY": "fast",
            "SARATOGA_ORIGIN": "https://a.example.org https://b.example.org",
            "SARATOGA_METRICS_PORT": "off",
            "SARATOGA_TRUST_STORE": "1",
        }
    )
    assert config.port == 9001
    assert config.durability is Durability.FAST
    assert config.origins == ("https://a.example.org", "https://b.example.org")
    assert config.metrics_port is None
    assert config.trust_store


def test_the_help_names_every_option_with_its_variable() -> None:
    result, _ = run("--help")
    for name in set(Config.__slots__) - {"is_password_exposed"}:
        flag = "origin" if name == "origins" else name.replace("_", "-")
        assert f"--{flag}" in result.output
        assert f"SARATOGA_{flag.replace('-', '_').upper()}" in "".join(result.output.split())


def test_metrics_get_a_free_port_if_players_do() -> None:
    assert run()[1][0].metrics_port == 7471
    assert run("--port", "0")[1][0].metrics_port == 0
    assert run("--metrics-port", "7", "--port", "0")[1][0].metrics_port == 7


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--port", "65536"), "--port must be 0 (a free port) to 65535, not 65536."),
        (("--port", "x"), "'x' is not a valid integer."),
        (("--metrics-port", "none"), "none is neither a port nor 'off'."),
        (("--metrics-port", "7470"), "--metrics-port and --port are the same port."),
        (("--redis", "localhost:6379"), "An address must begin with redis://"),
        (("--redis", "redis:"), "Give a URL such as redis://localhost:6379/0"),
        (("--redis", "redis://one,redis://two"), "Cluster is not supported"),
        (("--public-url", "patience.example.org"), "--public-url must be a URL such as"),
        (("--public-url", "wss://"), "--public-url must be a URL such as"),
        (("--origin", "a.example.org"), "--origin a.example.org is not an origin."),
        (("--origin", "https://a.example.org/"), "Write scheme and host without a path"),
        (("--origin", "https://a.example.org/page"), "has a path"),
        (("--tls-cert", __file__), "--tls-cert and --tls-key need each other."),
        (("--tls-key", "/nowhere/key.pem"), "does not exist"),
        (("--durability", "sure"), "'sure' is not one of"),
        (("--rate", "-1"), "-1 is not in the range"),
        (("--trusted-proxies", "-1"), "-1 is not in the range"),
        (("--limits-per-address", "0"), "neither a number above 0 nor 'off'"),
        (("--limits-per-address", "nan"), "neither a number above 0 nor 'off'"),
        (("--limits-per-address", "none"), "neither a number above 0 nor 'off'"),
        (("--burst", "0"), "0 is not in the range"),
        (("--drain-delay", "-1"), "-1.0 is not in the range"),
        (("--drain-delay", "nan"), "--drain-delay must be 0 to 3600 seconds."),
        (("--drain-delay", "3601"), "--drain-delay must be 0 to 3600 seconds."),
        (("--host", ""), "--host and --metrics-host must not be empty"),
        (("--public-url", "wss://[x"), "--public-url must be a URL such as"),
        (("--public-url", "wss://x:99999"), "--public-url must be a URL such as"),
        (("--origin", "http://[x"), "is not an origin."),
        (("--bots", "--tls-cert", __file__, "--tls-key", __file__), "need --public-url"),
        (("--owner", "anna"), "--owner anna is not a player id."),
        (("--node", "éast"), "--node must be printable ASCII"),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_a_reason(
    arguments: tuple[str, ...], says: str
) -> None:
    result, seen = run(*arguments)
    assert (result.exit_code, seen) == (2, [])
    assert says in " ".join(result.output.split())


def test_the_password_of_the_store_is_never_shown() -> None:
    config = Config(redis="rediss://me:hush@store:6379/2?password=hush")
    assert config.store_shown == "rediss://store:6379/2"
    assert "hush" not in repr(config)
    assert without_password("unix:///run/redis.sock") == "unix:///run/redis.sock"
    assert Config().store_shown == "embedded"


def test_an_invitation_is_the_address_that_players_connect_to() -> None:
    key = Path("key.pem")
    assert Config().invitation(9000) == "ws://127.0.0.1:9000"
    assert Config(host="::1", tls_cert=key, tls_key=key).invitation(9) == "wss://[::1]:9"
    assert Config(public_url="wss://p.example.org").invitation(9000) == "wss://p.example.org"


def test_the_servers_own_bots_connect_on_this_machine_or_by_the_name_of_the_certificate() -> None:
    key, proxy = Path("key.pem"), "https://p.example.org"
    assert Config(host="0.0.0.0", public_url=proxy).address_here(9) == "ws://127.0.0.1:9"
    assert Config(host="::").address_here(9) == "ws://[::1]:9"
    tls = Config(public_url=proxy, tls_cert=key, tls_key=key)
    assert tls.address_here(9) == "wss://p.example.org"


def test_the_stores_url_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "store_url"
    file.write_text("redis://:secret@store:6379\n")
    _, [config] = run(environment={"SARATOGA_REDIS_FILE": str(file)})
    assert config.redis == "redis://:secret@store:6379"


def test_a_url_given_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "store_url"
    file.write_text("redis://store")
    result, opened = run("--redis", "redis://store", "--redis-file", str(file))
    assert opened == []
    assert "Give one of them." in result.output
    file.write_bytes(b"\xff")
    result, opened = run("--redis-file", str(file))
    assert opened == []
    assert "cannot be read" in result.output


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hush@store:6379",
        "unix:///run/redis.sock?password=hush",
        "rediss://store?ssl_keyfile=key.pem&ssl_certfile=cert.pem&ssl_password=hush",
    ],
)
def test_a_password_is_exposed_by_the_command_line_only(url: str) -> None:
    _, [typed] = run("--redis", url)
    assert typed.is_password_exposed
    _, [safe] = run(environment={"SARATOGA_REDIS": url})
    assert (safe.redis, safe.is_password_exposed) == (url, False)


@pytest.mark.parametrize("url", ["redis://store", "redis://me@store", "unix:///run/redis.sock"])
def test_a_url_without_a_password_exposes_none(url: str) -> None:
    _, [config] = run("--redis", url)
    assert not config.is_password_exposed


# Each log event is one line, without secrets


log = EventLog("tests")
TOKEN = "0123456789abcdef" * 4
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

SetUp = Callable[..., io.StringIO]


@pytest.fixture
def written() -> Iterator[SetUp]:
    """Yield a function that sets up the logs as a server does, and returns the stream that they write to."""

    def set_up(*, as_json: bool = False, level: str = "info", strict: bool = False) -> io.StringIO:
        stream = io.StringIO()
        set_up_logs(as_json=as_json, level=level, node="east-1", stream=stream, strict=strict)
        return stream

    showwarning = warnings.showwarning
    yield set_up
    set_up_logs(stream=io.StringIO(), strict=True)
    logging.captureWarnings(False)
    assert warnings.showwarning is showwarning


def test_an_event_is_one_line_with_its_logger(written: SetUp) -> None:
    lines = written()
    log.info("race_started", racers=4, player="p1", table="mint-otter-42", race="mint-otter-42/1")
    [line] = lines.getvalue().splitlines()
    time, rest = line.split(" ", 1)
    assert TIME.fullmatch(time)
    assert rest == (
        "info    race_started table=mint-otter-42 race=mint-otter-42/1 player=p1 node=east-1 racers=4"
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_no_text_controls_the_terminal_that_shows_the_log_or_hides_there(
    written: SetUp, as_json: bool
) -> None:
    lines = written(as_json=as_json)
    for trick in TRICKS:
        log.info("audit", reason=f"Ben{trick}")
    shown = lines.getvalue().splitlines()
    assert len(shown) == len(TRICKS)
    assert all(line.isascii() and line.isprintable() for line in shown)


def test_a_program_reads_the_same_fields_as_json(written: SetUp) -> None:
    lines = written(as_json=True)
    log.warning("slow_client", player="p1", pending=300_000, aborted=True, reason=None)
    told = json.loads(lines.getvalue())
    assert TIME.fullmatch(told.pop("time"))
    assert told == {
        "level": "warning",
        "event": "slow_client",
        "player": "p1",
        "node": "east-1",
        "pending": 300_000,
        "aborted": True,
        "reason": None,
    }


def test_a_field_cannot_pretend_to_be_the_time_or_the_event(written: SetUp) -> None:
    lines = written(as_json=True)
    log.info("true_event", level="error", event="false_event")
    told = json.loads(lines.getvalue())
    assert (told["level"], told["event"]) == ("info", "true_event")


@pytest.mark.parametrize("name", sorted(SECRET_WORDS | {"token_hash", "new_seed", "stock_top"}))
def test_a_field_named_for_a_secret_raises_under_test(written: SetUp, name: str) -> None:
    lines = written(strict=True)
    with pytest.raises(SecretInLog, match=name):
        log.info("leak", **{name: "KS"})
    assert lines.getvalue() == ""


def test_a_server_withholds_a_secret_and_says_so(written: SetUp) -> None:
    lines = written(as_json=True)
    log.info("leak", token=TOKEN, seed="00", player="p1")
    told = json.loads(lines.getvalue())
    assert told["withheld"] == "seed,token"
    assert told["player"] == "p1"
    assert "token" not in told
    assert TOKEN not in lines.getvalue()


def test_a_token_is_redacted_in_any_text(written: SetUp) -> None:
    lines = written()
    log.info("odd", client=f"bot {TOKEN.upper()}")
    log.error("worse", fault=ValueError(f"no such key {TOKEN}"))
    logging.getLogger("redis").warning("sent %s", TOKEN)
    assert "0123456789abcdef" not in lines.getvalue().lower()
    assert lines.getvalue().count("<hex>") == 3


def test_long_text_is_cut_off(written: SetUp) -> None:
    lines = written(as_json=True)
    log.info("long", text="x" * 10_000)
    assert json.loads(lines.getvalue())["text"] == "x" * LONGEST_TEXT + "..."


def test_a_fault_says_where_in_one_line(written: SetUp) -> None:
    lines = written(as_json=True)
    try:
        raise LookupError("nothing there")
    except LookupError as fault:
        log.error("server_fault", fault=fault, command="move")
    told = json.loads(lines.getvalue())
    assert told["level"] == "error"
    assert told["command"] == "move"
    assert re.fullmatch(
        r"LookupError: nothing there at test_config\.py:\d+:test_a_fault_says_where_in_one_line",
        told["fault"],
    )


def test_libraries_may_warn_but_not_chatter(written: SetUp) -> None:
    lines = written(as_json=True, level="debug")
    logging.getLogger("websockets.server").info("connection open")
    logging.getLogger("websockets.server").error("opening handshake failed")
    told = json.loads(lines.getvalue())
    assert told["event"] == "websockets.server"
    assert told["text"] == "opening handshake failed"

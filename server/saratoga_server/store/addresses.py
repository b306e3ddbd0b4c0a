"""Parse and check the address of the store that the operator gives."""

import re
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

SENTINELS: Final = "sentinel://"
SCHEMES: Final = ("redis://", "rediss://", "unix://", SENTINELS)

OPTIONS: Final = ("db", "username", "password")
SENTINEL_OPTIONS: Final = ("db", "sentinel_username", "sentinel_password")
TLS_OPTIONS: Final = (
    *("ssl_ca_certs", "ssl_ca_path", "ssl_ca_data", "ssl_certfile", "ssl_keyfile", "ssl_password"),
    *("ssl_cert_reqs", "ssl_check_hostname", "ssl_min_version", "ssl_ciphers"),
    *("ssl_include_verify_flags", "ssl_exclude_verify_flags"),
)
"""The options in the query of a `rediss://` address, beside `OPTIONS`."""

PASSWORDS: Final = frozenset({"password", "ssl_password", "sentinel_password"})
"""The options that are passwords."""

_SEVERAL: Final = re.compile(r",(?:redis|rediss|unix|sentinel)://")
_SENTINEL: Final = re.compile(r"([\w.-]+|\[[\w:.%]+\])(:[1-9]\d{0,4})?")
_NAME: Final = re.compile(r"/[\w.-]+")
_HOST: Final = re.compile(r"[\w.:%-]+")
_DATABASE: Final = re.compile(r"/?|/\d+/?")
_VERIFY: Final = ("none", "optional", "required")


def fault_in(url: str) -> str | None:
    """Return a sentence that says why an address cannot be used; `None` if it can be used.

    The sentence quotes nothing, because an address may contain a password.
    """
    # redis-py takes a part that is missing or not understood for its default, such as localhost
    if not url.startswith(SCHEMES):
        return "An address must begin with redis://, rediss://, unix:// or sentinel://."
    if _SEVERAL.search(url):
        return "A Redis or Valkey Cluster is not supported: give the address of one store."
    try:
        parts = urlsplit(url)
        if parts.scheme == "sentinel":
            return _fault_in_sentinels(parts)
        host, port = parts.hostname, parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
    except ValueError:
        host, port, options = None, 0, {}
    if port == 0 or parts.fragment:
        return (
            "A port must be a number from 1 to 65535, and characters such as / ? # [ ] in a "
            "password must be percent-encoded."
        )
    if parts.scheme == "unix":
        if host or len(parts.path) < len("/s"):
            return (
                "A path must follow unix:// and begin with a slash, as in unix:///run/redis.sock."
            )
    elif host is None or not _HOST.fullmatch(host):
        return "A host name must follow redis:// or rediss://, without blanks and further commas."
    elif not _DATABASE.fullmatch(parts.path):
        return "Only the number of a database may follow the host, as in redis://localhost:6379/0."
    return _fault_in_options(parts.scheme, options)


def _fault_in_sentinels(parts: SplitResult) -> str | None:
    hosts = parts.netloc.rpartition("@")[2].split(",")
    if not _NAME.fullmatch(parts.path) or not all(map(_SENTINEL.fullmatch, hosts)):
        return (
            "sentinel:// is followed by all Sentinels and the primary's name, as in "
            "sentinel://10.0.0.1,10.0.0.2,10.0.0.3:26379/saratoga."
        )
    return _fault_in_options("sentinel", dict(parse_qsl(parts.query, keep_blank_values=True)))


def has_password(url: str) -> bool:
    """Test whether an address contains a password."""
    parts = urlsplit(url)
    return ":" in parts.netloc.rpartition("@")[0] or not PASSWORDS.isdisjoint(
        dict(parse_qsl(parts.query))
    )


def _fault_in_options(scheme: str, options: dict[str, str]) -> str | None:
    known = {"rediss": (*OPTIONS, *TLS_OPTIONS), "sentinel": SENTINEL_OPTIONS}.get(scheme, OPTIONS)
    if not options.keys() <= set(known):
        return f"The options of a {scheme}:// address are {', '.join(known)}."
    if not options.get("db", "0").isdecimal():
        return "The option db must be a number."
    if options.get("ssl_cert_reqs", "none") not in _VERIFY:
        return f"The option ssl_cert_reqs must be one of {', '.join(_VERIFY)}."
    return None

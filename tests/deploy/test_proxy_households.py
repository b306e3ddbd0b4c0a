"""The settings in `deploy/nginx` count connections by IPv4 address or IPv6 network."""

import re
import subprocess
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address
from itertools import product
from pathlib import Path
from urllib.request import urlopen

import pytest

from kit.deployment import DEPLOY, replaced
from kit.programs import program
from kit.stores import free_port

pytestmark = pytest.mark.needs("nginx")

SITE = (DEPLOY / "nginx" / "saratoga.conf").read_text()

SERVER = """
pid {folder}/pid;
error_log {folder}/log;
events {{}}
http {{
    access_log off;
    {map}
    client_body_temp_path {folder}/a;
    proxy_temp_path {folder}/b;
    fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d;
    scgi_temp_path {folder}/e;
    server {{
        listen 127.0.0.1:{port};
        return 200 $saratoga_household;
    }}
}}
"""


@pytest.fixture
def household(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A function that returns the key by which nginx counts an address; a header sets the address."""
    (block,) = re.findall(r"^map \$remote_addr .*?^}$", SITE, re.MULTILINE | re.DOTALL)
    asked = replaced(block, (r"\$(binary_)?remote_addr", "$arg_address"))
    port, settings = free_port(), tmp_path / "nginx.conf"
    settings.write_text(SERVER.format(folder=tmp_path, map=asked, port=port))
    command = [program("nginx"), "-p", str(tmp_path), "-c", str(settings), "-e", f"{tmp_path}/log"]
    subprocess.run(command, check=True)

    def asks(address: str) -> str:
        with urlopen(f"http://127.0.0.1:{port}/?address={address}", timeout=10) as answer:
            key: str = answer.read().decode()
        return key

    try:
        yield asks
    finally:
        subprocess.run([*command, "-s", "stop"], check=True)


def test_an_ipv6_household_has_one_key_and_its_neighbour_another(
    household: Callable[[str], str],
) -> None:
    """nginx omits runs of zeros in an address, as `IPv6Address` does, so zeros are tried in all places."""
    for network in product((0, 0xDB8), repeat=3):
        first = ":".join(f"{part:x}" for part in (0x2001, *network))
        for host in product((0, 1), repeat=4):
            address = IPv6Address(":".join([first, *(f"{part:x}" for part in host)]))
            assert household(str(address)) == first, address


def test_every_ipv4_address_has_its_own_key(household: Callable[[str], str]) -> None:
    assert household("203.0.113.7") == "203.0.113.7"


def test_all_limits_count_households() -> None:
    keys = re.findall(r"^limit_(?:conn|req)_zone +(\S+)", SITE, re.MULTILINE)
    assert keys == ["$saratoga_household"] * 3

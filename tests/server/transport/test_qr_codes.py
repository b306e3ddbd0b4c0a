"""The link to a table as a QR code."""

import re
from xml.etree import ElementTree

import pytest
import segno
from websockets.datastructures import Headers

from saratoga_server.transport.hosts import Hosts
from saratoga_server.transport.qr_codes import link_to, qr_svg

LINK = "http://192.168.1.7:7470/mint-otter-42"
ASKED = Headers([("Host", "192.168.1.7:7470")])


@pytest.mark.parametrize(
    ("hosts", "link"),
    [
        (Hosts(), LINK),
        (Hosts(is_tls=True), LINK.replace("http", "https")),
        (Hosts(origins=("https://192.168.1.7:7470",)), LINK.replace("http", "https")),
        (Hosts(origins=("https://cards.example.org",)), LINK),
        (Hosts(public_url="wss://cards.example.org"), "https://cards.example.org/mint-otter-42"),
        (
            Hosts(public_url="ws://cards.example.org:81/"),
            "http://cards.example.org:81/mint-otter-42",
        ),
        (
            Hosts(public_url="https://cards.example.org/a"),
            "https://cards.example.org/a/mint-otter-42",
        ),
    ],
)
def test_the_link_is_public_or_as_the_browser_came(hosts: Hosts, link: str) -> None:
    assert link_to("mint-otter-42", hosts, ASKED) == link


def test_the_image_draws_every_module_without_a_style() -> None:
    root = ElementTree.fromstring(qr_svg(LINK))
    size = segno.make_qr(LINK, error="m").symbol_size(border=4)[0]
    assert root.attrib["width"] == str(size)
    text = qr_svg(LINK).decode()
    assert re.search(r"style|class|script", text) is None
    assert "#fff" in text

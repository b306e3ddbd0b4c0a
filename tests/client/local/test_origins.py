"""Addresses with one origin share a token; other addresses do not."""

import pytest

from saratoga_client.local.origins import origin_of

SAME = {
    "wss://cards.example.org:443": (
        "wss://cards.example.org",
        "WSS://Cards.Example.ORG./",
        "wss://cards.example.org..",
        "wss://cards.example.org:443/path",
        "wss://someone:else@cards.example.org",
        " wss://cards.example.org?x#y ",
    ),
    "ws://cards.example.org:80": ("ws://cards.example.org", "ws://cards.example.org:80/"),
    "ws://cards.example.org:7470": ("ws://CARDS.example.org:7470/mint-otter-42",),
    "ws://localhost:7470": (
        "ws://localhost:7470",
        "ws://127.0.0.1:7470",
        "ws://127.8.0.1:7470",
        "ws://[::1]:7470",
        "ws://[0:0::1]:7470",
        "ws://[::ffff:127.0.0.1]:7470",
    ),
    "ws://lan:7470": (
        "ws://192.168.1.7:7470",
        "ws://[::ffff:192.168.1.9]:7470",
        "ws://10.0.0.2:7470",
        "ws://172.31.0.2:7470",
        "ws://169.254.3.4:7470",
        "ws://[FD00:0:0::7]:7470",
        "ws://[fe80::1%25eth0]:7470",
    ),
    "ws://172.32.0.2:7470": ("ws://172.32.0.2:7470/",),
    "ws://lan:7471": ("ws://192.168.1.7:7471",),
    "wss://xn--bcher-kva.example:443": (
        "wss://bücher.example",
        "wss://BÜCHER.example",
        "wss://xn--bcher-kva.example",
    ),
}


@pytest.mark.parametrize("origin", SAME)
def test_different_spellings_of_an_address_have_one_origin(origin: str) -> None:
    assert {origin_of(address) for address in SAME[origin]} == {origin}
    assert origin_of(origin) == origin


def test_another_name_port_or_scheme_is_another_origin() -> None:
    assert len({origin_of(origin) for origin in SAME}) == len(SAME)
    # a token sent without encryption must not be valid for a server behind TLS, even at the same port
    assert origin_of("ws://cards.example.org:443") != origin_of("wss://cards.example.org:443")
    assert origin_of("ws://cards.example.org.evil.example") != origin_of("ws://cards.example.org")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mint-otter-42",
        "https://x.example",
        "ws://",
        "ws://x:0",
        "ws://x:99999",
        "ws://[",
        "ws://../",
    ],
)
def test_an_invalid_server_address_has_no_origin(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        origin_of(text)

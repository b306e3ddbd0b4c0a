"""The server's option `--durability` accepts exactly the levels of durability."""

from saratoga_server.__main__ import main
from saratoga_server.store.durability import Durability


def test_the_option_takes_every_level() -> None:
    (option,) = [each for each in main.params if each.name == "durability"]
    assert (
        [str(choice) for choice in getattr(option.type, "choices", ())]
        == [str(level) for level in Durability]
        == ["fast", "safe", "replicated"]
    )

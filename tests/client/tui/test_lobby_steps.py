"""The steps that lead out of the lobby."""

from saratoga_client.tui.lobby_steps import FirstTable, OtherServer


def test_another_server_opens_its_lobby_unless_a_table_is_named() -> None:
    assert OtherServer("ws://cards.example.org").code == ""
    assert not FirstTable("mint-otter-42").is_watching

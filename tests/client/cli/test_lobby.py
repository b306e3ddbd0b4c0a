"""Where the lobby leads to, when its screen closes for it: another house, a house here, home."""

from collections.abc import Callable

import pytest

from saratoga_client.cli import host, lobby, play
from saratoga_client.local.settings import Settings
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.join import TableWanted
from saratoga_client.tui import flows, lobby_flow
from saratoga_client.tui.lobby_flow import Going, Home, HostHere, OtherHouse

TABLE = TableWanted(game="caprice", cap=3, seats=2, public=False)
THERE = "wss://cards.example.org"


class Lobbies:
    """Every time the lobby opens, the player goes to the next place; what happened is written down."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *goings: Going) -> None:
        self.goings = list(goings)
        self.seen: list[tuple[str, str]] = []
        """House and notice of every lobby."""
        self.done: list[tuple[object, ...]] = []
        self.trouble: Problem | None = None
        monkeypatch.setattr(lobby_flow, "in_lobby", self._in_lobby)
        monkeypatch.setattr(flows, "open_screen", lambda errand, settings: errand())
        monkeypatch.setattr(play, "sit_down", self._deed("join"))
        monkeypatch.setattr(play, "stand_beside", self._deed("watch"))
        monkeypatch.setattr(host, "host_here", self._deed("host"))

    def _in_lobby(
        self, settings: Settings, notice: str, leave: Callable[[Going], None]
    ) -> Callable[[], None]:
        self.seen.append((settings.server_url, notice))
        return lambda: leave(self.goings.pop(0))

    def _deed(self, name: str) -> Callable[..., None]:
        def deed(settings: Settings, what: object) -> None:
            self.done.append((name, settings.server_url, what))
            if self.trouble is not None:
                raise self.trouble

        return deed


def test_a_table_of_another_house_is_gone_to_and_its_lobby_comes_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lobbies = Lobbies(monkeypatch, OtherHouse(THERE, "mint-otter-42"), Home())
    lobby.on_screen(Settings(server="ws://here:1"))
    assert lobbies.done == [("join", THERE, "mint-otter-42")]
    assert lobbies.seen == [("ws://here:1", ""), (THERE, "")]


def test_a_table_of_another_house_can_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    going = OtherHouse(THERE, "mint-otter-42", is_watching=True)
    lobbies = Lobbies(monkeypatch, going, OtherHouse("ws://third:1"), Home())
    lobby.on_screen(Settings())
    assert lobbies.done == [("watch", THERE, "mint-otter-42")]
    assert lobbies.seen[-1] == ("ws://third:1", "")


@pytest.mark.parametrize("going", [OtherHouse(THERE, "mint-otter-42"), HostHere(TABLE)])
def test_what_goes_wrong_there_is_said_in_the_lobby(
    monkeypatch: pytest.MonkeyPatch, going: Going
) -> None:
    lobbies = Lobbies(monkeypatch, going, Home())
    lobbies.trouble = Problem("The table is closed.", "Open another.", Exit.NOT_FOUND)
    lobby.on_screen(Settings())
    assert lobbies.seen[-1][1] == "The table is closed. Open another."


def test_a_house_here_is_open_until_its_table_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    lobbies = Lobbies(monkeypatch, HostHere(TABLE), Home())
    lobby.on_screen(Settings())
    assert lobbies.done == [("host", Settings().server_url, TABLE)]
    assert lobbies.seen[-1][1] == "The house on this machine is closed again."


def test_ctrl_c_in_the_lobby_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(flows, "open_screen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lobby.on_screen(Settings())

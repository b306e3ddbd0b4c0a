"""The bare `saratoga`: the lobby, and from there wherever one wants to go."""

from saratoga_client.cli.options import begin
from saratoga_client.local.settings import Settings


def in_lines(settings: Settings) -> None:
    """The lobby in lines of text. Raises `Problem`."""
    begin(_stay_in_lines(settings))


async def _stay_in_lines(settings: Settings) -> None:
    from saratoga_client.plain.lobby import claim_name, run_lobby
    from saratoga_client.plain.session import open_session
    from saratoga_client.session.open_connection import open_connection

    async with open_connection(settings.server_url) as house:
        session = open_session()
        if house.welcome.name is None and settings.name:
            await claim_name(house, session, settings.name)
        await run_lobby(house, session=session)


def _at_table(settings: Settings, code: str, *, is_watching: bool) -> str:
    """At a table of another house until one goes; returns what went wrong, for the lobby."""
    from saratoga_client.cli.play import sit_down, stand_beside
    from saratoga_client.problems import Problem

    try:
        if is_watching:
            stand_beside(settings, code)
        else:
            sit_down(settings, code)
    except Problem as problem:
        return str(problem)
    return ""


def on_screen(settings: Settings) -> None:
    """The lobby on the whole terminal, until the player has enough. Raises `Problem`."""
    from saratoga_client.problems import Problem
    from saratoga_client.tui.flows import open_screen
    from saratoga_client.tui.lobby_flow import Going, HostHere, OtherHouse, in_lobby

    notice = ""
    while True:
        going: list[Going] = []
        open_screen(in_lobby(settings, notice, going.append), settings)
        match going:
            case [OtherHouse(server, code, is_watching)]:
                settings, notice = settings.given(server=server), ""
                if code:
                    notice = _at_table(settings, code, is_watching=is_watching)
            case [HostHere(table)]:
                from saratoga_client.cli.host import host_here

                try:
                    host_here(settings, table)
                except Problem as problem:
                    notice = str(problem)
                else:
                    notice = "The house on this machine is closed again."
            case _:
                return

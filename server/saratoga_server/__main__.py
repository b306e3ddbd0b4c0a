"""`saratoga-server`: the command line. What a command needs is loaded when it is given."""

import click

from saratoga_server.config import Settings, settings_options
from saratoga_server.process.garbage import look_seldom


class _Program(click.Group):
    """The server, which has one command: what administrators do, loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["admin"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "admin":
            return None
        from saratoga_server.admin.backup_commands import backup, restore
        from saratoga_server.admin.commands import admin

        admin.add_command(backup)
        admin.add_command(restore)
        return admin


@click.group(cls=_Program, invoke_without_command=True)
@click.version_option(package_name="saratoga", prog_name="saratoga-server")
@settings_options
@click.pass_context
def main(context: click.Context, settings: Settings) -> None:
    """Open a house: friends race the same patience deal here, with `saratoga`.

    Without options it listens on this machine, port 7470, and keeps its own store.
    """
    context.obj = settings
    if context.invoked_subcommand is not None:
        return
    look_seldom()
    from saratoga_server.starting import start

    start(settings)


if __name__ == "__main__":
    main()

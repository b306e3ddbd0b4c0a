"""The command line of `saratoga-server`. Each command imports its modules only when it is run."""

import gc

import click

from saratoga_server.config import Config, config_options


class _Commands(click.Group):
    """The group of subcommands: `admin`, which is imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["admin"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "admin":
            return None
        from saratoga_server.admin.backups import backup_command, restore_command
        from saratoga_server.admin.commands import admin

        admin.add_command(backup_command)
        admin.add_command(restore_command)
        return admin


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(package_name="saratoga", prog_name="saratoga-server")
@config_options
@click.pass_context
def main(context: click.Context, config: Config) -> None:
    """Run a Saratoga server: friends connect with `saratoga` and race the same patience deal.

    Without options it listens on port 7470, for this machine only, and runs its own store.
    """
    context.obj = config
    if context.invoked_subcommand is not None:
        return
    gc.disable()  # off until `run` turns it on: no imported object is garbage
    from saratoga_server.run import run

    run(config)


if __name__ == "__main__":
    main()

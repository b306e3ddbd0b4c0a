"""`saratoga completion SHELL`: print the code for completion in a shell."""

import click
from click.shell_completion import get_completion_class

from saratoga_client.cli.frame import example_command
from saratoga_client.output import write_script


@example_command(
    ('eval "$(saratoga completion bash)"', "in ~/.bashrc"),
    ('eval "$(saratoga completion zsh)"', "in ~/.zshrc"),
    ("saratoga completion fish | source", "in config.fish"),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the code that makes SHELL (bash, zsh or fish) complete saratoga's commands."""
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    root = context.find_root().command
    write_script(completion(root, {}, "saratoga", "_SARATOGA_COMPLETE").source())

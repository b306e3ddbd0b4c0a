"""Answers to the administrator. Text of players cannot control the terminal or hide in it."""

import json

import click
import msgspec

from saratoga_protocol.visible_text import sanitised


def say(line: str) -> None:
    """Write one line to the standard output."""
    click.echo(sanitised(line))


def say_json(answer: object) -> None:
    """Write an answer to the standard output as one line of JSON in ASCII."""
    click.echo(json.dumps(msgspec.to_builtins(answer)))


def failure(reason: object) -> click.ClickException:
    """Return the error that ends a command with the reason (exit code 1)."""
    return click.ClickException("\n".join(map(sanitised, str(reason).split("\n"))))

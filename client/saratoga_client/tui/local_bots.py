"""A bot that runs in this program and sits at the player's table."""

from collections.abc import Callable
from functools import partial

from saratoga_protocol.commands import JoinTable


async def run_bot(server: str, code: str, strength: str, warn: Callable[[str], None]) -> None:
    """Join the table as a bot and race there until the table closes; raises `Problem`.

    `warn` is called with sentences on how the server contradicted itself.
    """

    def alarm(race: str, sentences: tuple[str, ...]) -> None:
        warn(f"The bot {bot.name}: race {race}: {'; '.join(sentences)}.")

    # Imported here, so that programs without a bot start faster.
    from saratoga_client.bots.bot_connection import seated_bot

    async with seated_bot(server, partial(JoinTable, table=code)) as bot:
        await bot.play(strength, alarm=alarm)

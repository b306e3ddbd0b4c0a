"""The server's own bot host: the client's `saratoga bot --serve` as a child process."""

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE
from typing import Final

from saratoga_protocol.commands import player_id
from saratoga_server.cancellation import pause
from saratoga_server.config import Config
from saratoga_server.logs import EventLog

TOKEN: Final = "SARATOGA_BOT_HOST_TOKEN"  # noqa: S105 - a variable's name
"""The environment variable with the token of the bot host."""

RESTART_PAUSE: Final = 10.0
"""Seconds before a bot host that has ended is started again."""

log = EventLog("bots")


class OwnBotHost:
    """The bot host of this server, if it has one; it has a new token at each start of the server."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._token = secrets.token_hex(32)
        self.player = player_id(self._token) if config.bots else ""
        """The player id of the bot host; empty without one."""

    async def keep_running(self, port: int) -> None:
        """Run the bot host, again whenever it ends, until cancelled; without one, never return."""
        if not self._config.bots:
            await asyncio.Event().wait()
        while True:
            try:
                await self._run(self._config.address_here(port))
            except OSError as error:
                log.warning("bot_host_failed", reason=str(error))
            await pause(RESTART_PAUSE)

    async def _run(self, address: str) -> None:
        """Run the bot host until it ends; log what it says."""
        # the bots' secrets lie in the server's folder, unless a folder is set for all programs
        home = {"SARATOGA_HOME": str(self._config.data.absolute())}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "saratoga_client"),
            *("bot", "--serve", "--until-eof", "--server", address),
            stdin=PIPE,  # its end ends the bot host, even if this process is killed
            stdout=DEVNULL,
            stderr=PIPE,
            env={**home, **os.environ, TOKEN: self._token},
            start_new_session=True,  # Ctrl-C reaches only the server
        )
        try:
            assert process.stderr is not None
            async for line in process.stderr:
                log.warning("bot_host", text=line.decode(errors="replace").rstrip())
            log.warning("bot_host_ended", status=await process.wait())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

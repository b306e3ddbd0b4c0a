"""The server's own bot host: the client's `saratoga bot --serve` as a child process."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from typing import Final

from saratoga_server.cancellation import pause
from saratoga_server.config import Config
from saratoga_server.logs import EventLog

TOKEN: Final = "SARATOGA_BOT_HOST_TOKEN"  # noqa: S105 - a variable's name
"""The environment variable with the token of the bot host."""

RESTART_PAUSE: Final = 10.0
"""Seconds before a bot host that has ended is started again."""

log = EventLog("bots")


async def keep_bot_host(config: Config, port: int, token: str) -> None:
    """Run a bot host with this token at the server's port, again whenever it ends, until cancelled."""
    while True:
        try:
            await _run(config, port, token)
        except OSError as error:
            log.warning("bot_host_failed", reason=str(error))
        await pause(RESTART_PAUSE)


async def _run(config: Config, port: int, token: str) -> None:
    """Run the bot host until it ends; log what it says."""
    # the bots' secrets lie in the server's folder, unless a folder is set for all programs
    home = {"SARATOGA_HOME": str(config.data.absolute())}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_client"),
        *("bot", "--serve", "--until-eof", "--server", config.address_here(port)),
        stdin=PIPE,  # its end ends the bot host, even if this process is killed
        stdout=DEVNULL,
        stderr=PIPE,
        env={**home, **os.environ, TOKEN: token},
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

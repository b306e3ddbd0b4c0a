"""The server with a background task that fails at SIGUSR1.

`python -m kit.ending_duty`, with the server's own options.
"""

import asyncio
import signal
import sys


async def breaks(self: object) -> None:
    """Take the place of a task that never returns."""
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, told.set)
    await told.wait()
    raise RuntimeError("lost the place")


def main() -> None:
    from saratoga_server.__main__ import main as serve
    from saratoga_server.metrics.sampler import Sampler

    Sampler.keep = breaks  # type: ignore[method-assign]
    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()

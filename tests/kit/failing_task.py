"""A server with a background task that fails at SIGUSR1.

Run it by `python -m kit.failing_task`, with the server's own options.
"""

import asyncio
import signal
import sys


async def fail_at_signal(self: object, *given: object) -> None:
    """Run in place of an endless background task; raise an error at SIGUSR1."""
    signalled = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, signalled.set)
    await signalled.wait()
    raise RuntimeError("lost the place")


def main() -> None:
    from saratoga_server.__main__ import main as serve
    from saratoga_server.metrics.sampler import Sampler

    Sampler.keep = fail_at_signal  # type: ignore[method-assign]
    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()

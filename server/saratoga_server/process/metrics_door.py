"""The page of the metrics, from the time when its port is free until its worker leaves.

A worker that follows another finds the port taken for as long as the other is ending: it may come
later, since a scrape that is missed is no loss.
"""

import asyncio
from typing import Final

from saratoga_server.cancellation import pause
from saratoga_server.config import CannotStart, Settings
from saratoga_server.logs import EventLog
from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.page import MetricsPage, serve_metrics

TRY_EVERY: Final = 0.25
"""Seconds."""

log = EventLog("metrics")


class MetricsDoor:
    """Where Prometheus comes in."""

    def __init__(self, metrics: Metrics, settings: Settings) -> None:
        self._metrics = metrics
        self._settings = settings
        self._page: MetricsPage | None = None
        self._is_wanted = settings.metrics_port is not None
        self.opened = asyncio.Event()

    def open(self) -> None:
        """Open it, if it is wanted. Raises `CannotStart`."""
        try:
            self._open()
        except OSError as fault:
            raise CannotStart(
                f"The metrics port {self._settings.metrics_port} cannot be opened "
                f"({fault.strerror}). Choose another with --metrics-port, or say "
                "--metrics-port off."
            ) from None

    def _open(self) -> None:
        port = self._settings.metrics_port
        if port is None or not self._is_wanted or self._page is not None:
            return
        page = serve_metrics(self._metrics, port, self._settings.node, self._settings.metrics_host)
        self._page = page
        self.opened.set()
        log.info("metrics_open", port=page.port)

    async def keep_open(self) -> None:
        """Open it as soon as the port is free, if it is not open; for ever."""
        while self._page is None and self._is_wanted:
            try:
                self._open()
            except OSError:
                await pause(TRY_EVERY)
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Shut it, for good; takes up to half a second."""
        self._is_wanted = False
        page, self._page = self._page, None
        if page is not None:
            await asyncio.to_thread(page.close)

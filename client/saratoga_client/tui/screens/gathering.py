"""Before a race: who is there, what will be raced, and how friends come in."""

from collections.abc import Iterable
from functools import partial

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.local.setting_values import CAPS, FEWEST_SEATS, MOST_SEATS
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import shown_name
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.figures import cap_text, game_title
from saratoga_client.tui.pages.gathering import gathering_page
from saratoga_client.tui.table_screen import TableScreen
from saratoga_rules.games import GAMES


class GatheringScreen(TableScreen):
    """The table gathers."""

    _chosen = ""
    """The player whom the host may send away."""
    _notice = ""

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        return gathering_page(
            self.evening, self.visit.invitation_lines, self._chosen, self.signs, width, height
        )

    def begin(self) -> None:
        self._tell(self.evening)

    def changed(self, evening: SessionState) -> None:
        if evening.table.notice != self._notice:
            self._tell(evening)
        self.query_one("#page", CanvasView).redraw()
        super().changed(evening)

    def _tell(self, evening: SessionState) -> None:
        """What happened last, or what to do now."""
        self._notice = evening.table.notice
        self.say(self._notice or self._advice())

    def _advice(self) -> str:
        if self.evening.seat is None:
            return "You watch this table; the race is shown when it starts."
        if self.evening.is_host:
            return "Press r when you are ready, and s to start with all who are."
        return "Press r when you are ready; the host starts the race."

    def facts(self) -> list[str]:
        table = self.evening.table
        settings = table.settings
        return [
            game_title(settings.game).upper(),
            table.code,
            cap_text(settings.cap),
            "public" if settings.public else "private",
        ]

    def guide(self) -> Guide:
        seat = self.evening.seat
        if seat is None:
            return (("t", "colours"),)
        keys = [("r", "not ready" if seat.ready else "ready")]
        if self.evening.is_host:
            # g, c, p, + and - stand on the page, beside what they change
            keys += [("s", "start"), ("b", "bring a bot"), ("k", "send away"), ("t", "colours")]
        else:
            keys += [("b", "bring a bot"), ("t", "colours")]
        return keys

    def press(self, key: str) -> None:
        seat = self.evening.seat
        if seat is None:
            super().press(key)
        elif key == "r":
            self.visit.do(self.visit.seat.not_ready() if seat.ready else self.visit.seat.ready())
            self.say("Not ready." if seat.ready else "Ready.")
        elif key == "b":
            self.ask(
                "Bring a bot to the table: w a weak one, s a strong one.",
                w=("weak", partial(self.visit.bring_bot, "weak")),
                s=("strong", partial(self.visit.bring_bot, "strong")),
            )
        elif key in ("s", "g", "c", "p", "+", "-", "k", "up", "down"):
            self._press_of_host(key)
        else:
            super().press(key)

    def _press_of_host(self, key: str) -> None:
        if not self.evening.is_host:
            self.say("Only the host can do that.")
            return
        settings = self.evening.table.settings
        change = partial(self._change)
        match key:
            case "s":
                self._start()
            case "g":
                names = list(GAMES)
                known = names.index(settings.game) if settings.game in names else -1
                change(game=names[(known + 1) % len(names)])
            case "c":
                caps = [cap for cap in CAPS if cap or not settings.public]
                place = caps.index(settings.cap) if settings.cap in caps else -1
                change(cap=caps[(place + 1) % len(caps)])
            case "p":
                change(public=not settings.public)
            case "+" | "-":
                seats = settings.seats + (1 if key == "+" else -1)
                change(seats=max(FEWEST_SEATS, min(MOST_SEATS, seats)))
            case _:
                self._choose(key)

    def _change(self, **settings: int | str | bool) -> None:
        self.visit.do(self.visit.seat.change_settings(**settings))  # type: ignore[arg-type]
        if any(seat.ready for seat in self.evening.table.seats):
            self.say("The race has changed: everybody says ready again.")

    def _start(self) -> None:
        seat = self.evening.seat
        if seat is None or not seat.ready:
            self.say("Press r first: the host races too.")
            return
        self.visit.do(self.visit.seat.start())

    def _choose(self, key: str) -> None:
        """Walk through the others; `k` asks whether to send the chosen one away."""
        others = [each for each in self.evening.table.seats if each.player != self.evening.player]
        if not others:
            self._chosen = ""
            self.say("Nobody else is here.")
            return
        players = [each.player for each in others]
        place = players.index(self._chosen) if self._chosen in players else -1
        if key == "k" and place >= 0:
            name = shown_name(others[place].name, others[place].bot)
            player, self._chosen = self._chosen, ""
            self.ask(
                f"Send {name} away from this table for good? y does.",
                y=("send away", lambda: self.visit.do(self.visit.seat.kick(player))),
            )
        else:
            step = -1 if key == "up" else 1
            self._chosen = players[(place + step) % len(players)] if place >= 0 else players[0]
            name = next(each.name for each in others if each.player == self._chosen)
            self.say(f"{name}: k sends away, up and down choose another.")
        self.query_one("#page", CanvasView).redraw()

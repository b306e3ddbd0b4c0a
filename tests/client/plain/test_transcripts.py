"""Plain sessions write exactly the lines of their transcripts."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Final

import pytest

from kit.altered_server import QUICK
from kit.line_client import RecordedOutput
from kit.positions import draw
from kit.server_process import running_server
from kit.session_states import finished
from saratoga_client import plain
from saratoga_client.cli.watch import watched_states
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.plain.board import BoardAnswers, moved_line
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.event_lines import ChangeWriter
from saratoga_client.plain.finished_race import replay_lines
from saratoga_client.plain.lobby import run_lobby
from saratoga_client.plain.practice import run_practice
from saratoga_client.plain.session import LineReader, PlainSession
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.witness import Witness
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.position import redact

WITHIN: Final = 30.0
"""Longest time in seconds to wait for a line; a bound, not a measurement."""

TABLE: Final = re.compile(r"table ([a-z]+-[a-z]+-\d+): ")
ANY_LINES: Final = "..."


@dataclass
class Step:
    """A step: a command, or the start of a player's program, and the expected lines."""

    player: str
    program: str
    command: str | None
    expected: list[str] = field(default_factory=list)


def parse_transcript(text: str) -> list[Step]:
    """Split a transcript into its steps."""
    steps: list[Step] = []
    player = program = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            player, _, program = (part.strip() for part in line.strip("[]").partition(":"))
            steps.append(Step(player, program, None))
        elif line.startswith("> "):
            steps.append(Step(player, program, line.removeprefix("> ")))
        else:
            steps[-1].expected.append(line)
    return steps


class WaitingOutput(RecordedOutput):
    """An output that keeps every line, and wakes a runner that waits for more lines."""

    def __init__(self) -> None:
        super().__init__()
        self.more = asyncio.Event()

    def write(self, *lines: str) -> None:
        super().write(*lines)
        self.more.set()


class TypedLines:
    """A source of input lines that the runner fills."""

    def __init__(self) -> None:
        self._chunks: SimpleQueue[bytes] = SimpleQueue()

    def read(self, size: int, /) -> bytes:
        return self._chunks.get()

    def type(self, line: str) -> None:
        self._chunks.put(f"{line}\n".encode())

    def end(self) -> None:
        self._chunks.put(b"")


class TranscriptPlayer:
    """One player of a transcript: a running program, its input, and its output so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.input = TypedLines()
        self.output = WaitingOutput()
        self.read_to = 0
        self.session = PlainSession(LineReader(self.input.read), self.output)

    async def expect(self, expected: Sequence[str], transcript: "TranscriptRun") -> None:
        """Wait for these lines, in order and with no other lines between them."""
        skips = False
        for pattern in expected:
            if pattern == ANY_LINES:
                skips = True
                continue
            while True:
                line = transcript.normalised(await self._next(pattern))
                if _matches(pattern, line):
                    break
                assert skips, f"{self.name} expected {pattern!r} and got {line!r}"
            skips = False
        if skips:
            self.read_to = len(self.output.lines)

    async def _next(self, expected: str) -> str:
        try:
            async with asyncio.timeout(WITHIN):
                while self.read_to == len(self.output.lines):
                    self.output.more.clear()
                    await self.output.more.wait()
        except TimeoutError:
            last = self.output.lines[-5:]
            raise AssertionError(f"{self.name} expected {expected!r} after {last}") from None
        self.read_to += 1
        return self.output.lines[self.read_to - 1]


def _matches(pattern: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANY_LINES))), line) is not None


@dataclass
class TranscriptRun:
    """One run of a transcript: its players, connected to one server."""

    stack: AsyncExitStack
    folder: Path
    server: str = ""
    players: dict[str, TranscriptPlayer] = field(default_factory=dict)
    code: str = ""

    async def play(self, steps: Sequence[Step]) -> None:
        """Type each step's command and compare the output with the expected lines."""
        for step in steps:
            player = self.players.get(step.player) or await self._start(step)
            if step.command is not None:
                player.input.type(step.command.replace("$CODE", self.code))
            await player.expect(step.expected, self)
        for player in self.players.values():
            rest = [self.normalised(line) for line in player.output.lines[player.read_to :]]
            assert not rest, f"{player.name} got lines that the transcript does not list: {rest}"

    def normalised(self, line: str) -> str:
        """Return a line with `$CODE` for the table's code and `$SERVER` for the server's address."""
        if self.server:
            line = line.replace(self.server, "$SERVER")
        if not self.code and (found := TABLE.match(line)):
            self.code = found[1]
        return line.replace(self.code, "$CODE") if self.code else line

    async def _start(self, step: Step) -> TranscriptPlayer:
        player = self.players[step.player] = TranscriptPlayer(step.player)
        program = asyncio.create_task(self._run(player, step.program.split()))
        self.stack.push_async_callback(_stop, program)
        self.stack.callback(player.input.end)
        return player

    async def _run(self, player: TranscriptPlayer, words: Sequence[str]) -> None:
        witness = Witness(self.folder / player.name / "witness")
        records = RecordStore(self.folder / player.name / "records")
        match words:
            case ["practice", game, seed]:
                await run_practice(GAMES[game], seed, session=player.session)
                return
            case ["replay", game]:
                player.output.write_all(replay_lines(finished(game)))
                return
        async with Connection(self.server, new_token()) as connection:
            if words != ["watch"]:
                await run_lobby(
                    connection, session=player.session, witness=witness, records=records
                )
                return
            writer = ChangeWriter(player.output, connection.now)
            watched = watched_states(connection, self.code, witness=witness, records=records)
            async with aclosing(watched) as states:
                async for state in states:
                    writer.show(state)


async def _stop(program: asyncio.Task[None]) -> None:
    program.cancel()
    results = await asyncio.gather(program, return_exceptions=True)
    errors = [
        result
        for result in results
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError)
    ]
    assert not errors, errors


@asynccontextmanager
async def transcript_run(folder: Path, server: str = "") -> AsyncIterator[TranscriptRun]:
    """Run the programs of a transcript's players, and stop them at the end."""
    async with AsyncExitStack() as stack:
        yield TranscriptRun(stack, folder, server)


FOLDER = Path(__file__).parent / "transcripts"
OFFLINE = [path.name for path in sorted((FOLDER / "offline").glob("*.txt"))]
ONLINE = [path.name for path in sorted((FOLDER / "online").glob("*.txt"))]


@pytest.mark.parametrize("name", OFFLINE)
async def test_a_session_without_a_server_writes_its_transcript(name: str, tmp_path: Path) -> None:
    async with transcript_run(tmp_path) as run:
        await run.play(parse_transcript((FOLDER / "offline" / name).read_text()))


@pytest.mark.parametrize("name", ONLINE)
async def test_a_session_at_a_server_writes_its_transcript(name: str, tmp_path: Path) -> None:
    async with (
        running_server(module=QUICK) as server,
        transcript_run(tmp_path, server.url) as run,
    ):
        await run.play(parse_transcript((FOLDER / "online" / name).read_text()))


def answered(step: Step) -> list[str]:
    """Return the lines for a command about the board that the step's heading draws."""
    name, _, picture = step.program.partition(" ")
    game, names = GAMES[name], CardNames(in_words=step.player == "words")
    before = draw(game, picture.replace("; ", "\n"))
    answers = BoardAnswers(game, redact(before), None, names)
    match step.command.split(" ", 1) if step.command else []:
        case ["look"]:
            return list(answers.look())
        case ["where", cards]:
            return list(answers.where(cards))
        case [text]:
            move = parse_move(text)
            after = play(game, before, move)
            return [moved_line(game, redact(before), redact(after), move, 12, names)]
    return []


async def test_lines_about_boards_are_those_of_their_transcript(tmp_path: Path) -> None:
    run = TranscriptRun(AsyncExitStack(), tmp_path)
    for step in parse_transcript((FOLDER / "boards.txt").read_text()):
        player = TranscriptPlayer(step.program)
        player.output.write(*answered(step))
        await player.expect(step.expected, run)
        assert player.read_to == len(player.output.lines), step


def test_every_kind_in_the_transcripts_is_listed_in_form_md() -> None:
    form = (Path(plain.__file__).parent / "FORM.md").read_text()
    rows = [line.split("|")[1] for line in form.splitlines() if line.startswith("| `")]
    listed = re.compile(
        "|".join(
            re.sub(r"\\? ?\b[A-Z]+\b", lambda _: r".*", re.escape(kind))
            for row in rows
            for kind in re.findall(r"`([^`]+)`", row)
        )
    )
    kinds = {
        line.partition(":")[0]
        for path in FOLDER.rglob("*.txt")
        for step in parse_transcript(path.read_text())
        for line in step.expected
        if line != ANY_LINES
    }
    subjects = (
        *("leader ", "legal ", "help ", "rules ", "where ", "hint ", "check ", "parted "),
        *("undone ", "made again ", "total ", "result ", "standing "),
    )
    heads = {next((s.strip() for s in subjects if kind.startswith(s)), kind) for kind in kinds}
    assert sorted(head for head in heads if not listed.fullmatch(head)) == []

"""Plain sessions write exactly the lines of their transcripts."""

import re
from pathlib import Path

import pytest

from kit.altered_server import QUICK
from kit.server_process import running_server
from kit.transcripts import ANY_LINES, parse_transcript, transcript_run
from saratoga_client import plain

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

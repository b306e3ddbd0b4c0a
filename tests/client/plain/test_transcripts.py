"""Plain sessions write exactly the lines of their transcripts."""

from pathlib import Path

import pytest

from kit.quick_countdown import MODULE
from kit.server_process import running_server
from kit.transcripts import parse_transcript, transcript_run

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
        running_server(module=MODULE) as server,
        transcript_run(tmp_path, server.url) as run,
    ):
        await run.play(parse_transcript((FOLDER / "online" / name).read_text()))

"""Append-only files made longer: a store reads them, and finds more races than were raced."""

from pathlib import Path

import pytest

from benchmarks.append_files import commands, lengthen, of_races, packed
from kit.stores import StoreServer

MOVE = [
    [b"MULTI"],
    [b"HSET", b"{p1}:table:mint-otter-42:race:1", b"a:length", b"1"],
    [b"RPUSH", b"{p1}:table:mint-otter-42:race:1:log:a", b"5 1 3 draw"],
    [b"EXEC"],
]
GREETING = [[b"MULTI"], [b"HSET", b"{players}:player:a", b"last_id", b"4"], [b"EXEC"]]


def written(file: Path, *told: list[bytes]) -> Path:
    file.write_bytes(b"".join(map(packed, told)))
    return file


def test_what_is_written_is_read_as_it_was() -> None:
    told = [*MOVE, [b"SET", b"k", b"\r\n$3\r\n"], [b"PING"]]
    assert list(commands(b"".join(map(packed, told)))) == told


def test_only_what_changes_a_race_is_told_again() -> None:
    assert of_races(iter([*GREETING, *MOVE, *GREETING])) == MOVE


def test_a_longer_file_has_as_many_moves_as_it_says(tmp_path: Path) -> None:
    file = written(tmp_path / "aof", *GREETING, *MOVE)
    moves = lengthen(file, 10_000)
    assert file.stat().st_size >= 10_000
    logs = [each[1] for each in commands(file.read_bytes()) if each[0] == b"RPUSH"]
    assert len(logs) == moves
    assert len(set(logs)) == moves


def test_a_file_without_moves_cannot_be_made_longer(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no move"):
        lengthen(written(tmp_path / "aof", *GREETING), 10_000)


def test_a_store_starts_on_a_longer_file(mortal_store: StoreServer) -> None:
    key = "{p1}:table:mint-otter-42:race:1:log:a"
    assert mortal_store.ask("RPUSH", key, "5 1 3 draw") == b":1"
    mortal_store.shut_down()
    (file,) = (mortal_store.folder / "appendonlydir").glob("*.incr.aof")
    moves = lengthen(file, 10_000)
    mortal_store.start()
    assert mortal_store.ask("DBSIZE") == b":%d" % moves

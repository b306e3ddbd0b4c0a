"""A bot keeps its name and its token at each house, and is in one place at a time."""

from functools import partial
from pathlib import Path

import pytest

from saratoga_client.bots.bot_connection import seated_bot
from saratoga_client.bots.identities import claimed, temper_of
from saratoga_client.problems import Problem
from saratoga_protocol.commands import JoinTable

HOUSE = "ws://127.0.0.1:7470"


def test_a_bot_that_comes_again_has_the_same_token(tmp_path: Path) -> None:
    with claimed("Otto", HOUSE, tmp_path) as first:
        pass
    with claimed("Otto", HOUSE, tmp_path) as second:
        assert first == second is not None


def test_bots_of_other_names_have_other_tokens(tmp_path: Path) -> None:
    with claimed("Otto", HOUSE, tmp_path) as otto, claimed("Mabel", HOUSE, tmp_path) as mabel:
        assert otto != mabel


def test_a_bot_is_told_apart_by_no_two_houses(tmp_path: Path) -> None:
    with claimed("Otto", HOUSE, tmp_path) as here:
        pass
    with claimed("Otto", "wss://cards.example.org", tmp_path) as there:
        assert here != there


def test_nobody_else_can_be_a_bot_that_is_at_work(tmp_path: Path) -> None:
    with claimed("Otto", HOUSE, tmp_path) as first, claimed("Otto", HOUSE, tmp_path) as second:
        assert first is not None
        assert second is None


def test_names_that_no_file_could_have_are_kept_all_the_same(tmp_path: Path) -> None:
    with claimed("../Zoë :-)", HOUSE, tmp_path) as token:
        assert token is not None
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def test_every_name_has_a_temper_of_its_own() -> None:
    assert 0 != temper_of("Otto") != temper_of("Mabel") != 0


async def test_a_bots_token_that_others_can_read_is_told_of_in_words(tmp_path: Path) -> None:
    with claimed("Gus", HOUSE, tmp_path):
        pass
    (tmp_path / "gus.secret").chmod(0o644)
    sit_down = partial(JoinTable, table="mint-otter-42")
    with pytest.raises(Problem, match="chmod 600"):
        async with seated_bot("ws://127.0.0.1:1", sit_down, name="Gus", folder=tmp_path):
            pass

"""A bot keeps its token for each server, and only one process at a time can use it."""

from pathlib import Path

from saratoga_client.bots.identities import claim_identity, variation_of

SERVER = "ws://127.0.0.1:7470"


def test_a_bot_that_returns_has_the_same_token(tmp_path: Path) -> None:
    with claim_identity("Otto", SERVER, tmp_path) as first:
        pass
    with claim_identity("Otto", SERVER, tmp_path) as second:
        assert first == second is not None


def test_bots_with_different_names_have_different_tokens(tmp_path: Path) -> None:
    with (
        claim_identity("Otto", SERVER, tmp_path) as otto,
        claim_identity("Mabel", SERVER, tmp_path) as mabel,
    ):
        assert otto != mabel


def test_a_bot_has_a_different_token_at_each_server(tmp_path: Path) -> None:
    with claim_identity("Otto", SERVER, tmp_path) as here:
        pass
    with claim_identity("Otto", "wss://cards.example.org", tmp_path) as there:
        assert here != there


def test_a_second_process_cannot_use_the_identity_of_a_running_bot(tmp_path: Path) -> None:
    with (
        claim_identity("Otto", SERVER, tmp_path) as first,
        claim_identity("Otto", SERVER, tmp_path) as second,
    ):
        assert first is not None
        assert second is None


def test_a_name_that_is_no_file_name_is_stored_inside_the_folder(tmp_path: Path) -> None:
    with claim_identity("../Zoë :-)", SERVER, tmp_path) as token:
        assert token is not None
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def test_every_name_has_its_own_variation() -> None:
    assert 0 != variation_of("Otto") != variation_of("Mabel") != 0

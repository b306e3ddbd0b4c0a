"""The one write: whole or not at all, and once, however often it is sent and whoever writes in between."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import ResponseError

from kit.running_race import AnyStore
from kit.stores import calm
from saratoga_server.store.client import function_name
from saratoga_server.store.save import LARGE, MISSING, Save

KEY, LIST, COUNT = "table:mint-otter-42", "a-list", "a-hash"


async def send(store: AnyStore, arguments: tuple[bytes, ...]) -> int:
    """Call the Function with arguments that may have been sent before; return its answer."""
    answer = await store.client.command("FCALL", function_name("save"), 0, *arguments)
    assert isinstance(answer, int)
    return answer


@calm
@given(
    st.lists(st.tuples(st.sampled_from(["judge", "send"]), st.integers(0, 1)), max_size=14),
    st.sampled_from([1, LARGE + 1]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_two_writers_that_repeat_what_they_sent_write_each_change_once(
    store: AnyStore, acts: list[tuple[str, int]], size: int
) -> None:
    """A writer judges a change on the version it reads, and sends it any number of times, early or late."""
    await store.client.command("DEL", KEY, LIST, COUNT)
    changes: dict[int, tuple[tuple[bytes, ...], int, str]] = {}
    version, last, values = 0, None, []
    for number, (act, writer) in enumerate(acts):
        if act == "judge":
            save, value = Save(), f"{number}".rjust(size, "-")
            save.only_if("changed", KEY, "version", version or MISSING)
            save.do("HSET", KEY, "version", version + 1)
            save.do("RPUSH", LIST, value.encode())
            save.do("HINCRBY", COUNT, "changes", 1)
            changes[writer] = save.packed(), version, value
        elif writer in changes:
            arguments, judged_on, value = changes[writer]
            if last == arguments:
                expected = 0  # a repeat
            elif judged_on == version:
                version, last, expected = version + 1, arguments, 0
                values.append(value)
            else:
                expected = 1
            assert await send(store, arguments) == expected
    stored = await store.client.commands(
        [("HGET", KEY, "version"), ("LRANGE", LIST, 0, -1), ("HGET", COUNT, "changes")]
    )
    assert [int(stored[0] or 0), int(stored[2] or 0)] == [version, version]
    assert [value.decode() for value in stored[1]] == values


async def test_the_first_guard_that_does_not_hold_is_the_answer(store: AnyStore) -> None:
    await store.client.command("HSET", KEY, "version", 3, "word", "one")
    await store.client.command("SET", "name:zoe", "anna")
    for guard, answer in (
        ((KEY, "version", 3), None),
        ((KEY, "version", 2, 4), "no"),
        ((KEY, "word", "two", "one"), None),
        ((KEY, "nothing", MISSING), None),
        ((KEY, "word", MISSING), "no"),
        (("name:zoe", "", "anna"), None),
        (("name:bert", "", MISSING), None),
    ):
        save = Save()
        save.only_if("version", KEY, "version", 3)
        save.only_if("no", *guard)
        save.do("HSET", KEY, "seen", 1)
        assert await store.client.save(save) == answer, guard
    excluded = Save()
    excluded.only_if("repeated", KEY, "word", "one", unless=True)
    excluded.do("HSET", KEY, "version", 4)
    assert await store.client.save(excluded) == "repeated"


@pytest.mark.parametrize(
    "write",
    [
        ("FLUSHALL", KEY, 1),
        ("HSET", LIST, "field", 1),
        ("ZADD", KEY, 1, "member"),
        ("BEST", KEY, "anna", 1, "row"),
        ("HINCRBY", KEY, "word", 1),
        ("HSET", KEY),
    ],
)
async def test_a_write_of_a_wrong_form_keeps_the_others_from_being_made(
    store: AnyStore, write: tuple[str | int, ...]
) -> None:
    await store.client.command("HSET", KEY, "word", "one")
    await store.client.command("RPUSH", LIST, "one")
    save = Save()
    save.only_if("changed", KEY, "version", MISSING)
    save.do("HSET", KEY, "version", 1)
    save.do(*write)  # type: ignore[arg-type]
    with pytest.raises(ResponseError):
        await store.client.save(save)
    assert await store.client.command("HGETALL", KEY) in ([b"word", b"one"], {b"word": b"one"})


async def test_the_highest_score_keeps_its_row(store: AnyStore) -> None:
    for score, row in ((5, "first"), (5, "level"), (4, "lower"), (9, "best")):
        save = Save()
        save.only_if("", KEY, "version", MISSING)
        save.do("BEST", "ranking", "anna", score, row)
        await store.client.save(save)
        kept = "best" if score == 9 else "first"
        assert await store.client.command("HGET", "ranking:rows", "anna") == kept.encode()

"""Seeds have 32 bytes each and never repeat."""

from saratoga_server.live.seeds import new_seed


def test_every_seed_has_32_bytes_and_is_another() -> None:
    seeds = {new_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert {len(seed) for seed in seeds} == {32}

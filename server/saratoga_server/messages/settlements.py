"""Settlements as they lie in the outbox."""

from saratoga_server.messages.packing import pack, unpack
from saratoga_server.ports import Millis, SettledResult, Settlement


def pack_settlement(settlement: Settlement) -> bytes:
    """For `RaceFinish.settlement`; the results in their order of finish."""
    return pack(
        (
            settlement.race,
            settlement.game,
            settlement.start_at,
            [
                (each.player, each.bot, each.banked, each.net, each.elapsed)
                for each in settlement.results
            ],
        )
    )


def unpack_settlement(packed: bytes) -> Settlement:
    """Raises `ValueError` on anything that `pack_settlement` did not write.

    A newer node may write more at the end of each list, and only there.
    """
    try:
        race, game, start_at, results, *_ = unpack(packed)
        return Settlement(
            race=race,
            game=game,
            start_at=Millis(start_at),
            results=tuple(
                SettledResult(player=player, bot=bot, banked=banked, net=net, elapsed=elapsed)
                for player, bot, banked, net, elapsed, *_ in results
            ),
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"not a settlement: {error}") from error

"""Results of races, with only what a test names."""

from saratoga_protocol.events import Result


def result_of(
    player: str,
    *,
    bot: bool = False,
    banked: int = 9,
    net: int = -5,
    reached: int | None = 1000,
) -> Result:
    """Return a racer's result, as a settlement carries it to the leaderboards."""
    return Result(
        player=player,
        name=player,
        place=1,
        bot=bot,
        banked=banked,
        net=net,
        state="cashed out",
        moves=3,
        reached=reached,
    )

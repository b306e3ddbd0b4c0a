"""What a node remembers of races whose stored data are damaged."""

from kit.in_process_server import InProcessServer, gathered
from saratoga_server.domain.damage import Damage
from saratoga_server.live.damaged_races import DamagedRaces
from saratoga_server.live.due_tables import DueTables


async def test_damage_is_known_while_its_race_runs(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    await server.deal(anna)
    state = server.state(code)
    races = DamagedRaces(DueTables(server.node.clock))
    damage = Damage("an entry is missing")
    assert races.refusal(state, damage).code == "store_unavailable"
    races.keep_only({state.race_id})
    assert races.damage(state.race_id) is damage
    races.keep_only(())
    assert races.damage(state.race_id) is None

"""Tables spread over few and many partitions of a cluster: a batch is one call for each of them."""

from benchmarks.closed_loop import house_load
from benchmarks.contestants import Running, house_server
from benchmarks.lines import GAME, columns, line, tell, undisturbed
from benchmarks.measuring import Load
from benchmarks.reports import Cell, Report
from kit.cluster import PRIMARIES, running_cluster

TABLES = 64
PARTITIONS = (1, 4, 16, 64)


async def partitions(report: Report, *, quick: bool) -> None:
    """Part 10."""
    seconds = 1.0 if quick else 1.5
    rows: list[list[Cell]] = []
    loads: list[Load] = []
    with running_cluster(replicas=False) as cluster:
        stores = tuple(node.server.process.pid for node in cluster.nodes if node.server.process)
        for count in (1, 64) if quick else PARTITIONS:
            name = f"{count} partition{'s' if count > 1 else ''}"
            load = await _load(name, count, cluster.url, stores, seconds)
            loads.append(load)
            rows.append(line(name, TABLES, load, loads[0]))
    report.table(columns("1 partition"), rows)
    report.say(
        f"A cluster of {PRIMARIES} primaries on this machine, without replicas, their files in memory; "
        "table codes were chosen for the partition they fall into. One partition is at one primary."
    )


@undisturbed
async def _load(name: str, count: int, url: str, stores: tuple[int, ...], seconds: float) -> Load:
    with house_server("safe", "--redis", url, altered=(f"partitions={count}",)) as found:
        running = Running(found.ports, found.servers, stores)
        load = await house_load(running, TABLES, GAME, seconds)
    tell(name, TABLES, load)
    return load

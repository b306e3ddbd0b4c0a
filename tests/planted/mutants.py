"""Change 40 small things in each part of the program, one at a time, and say how many the tests notice.

`make mutants`, or `make mutants ARGS="store live"` for some parts. cosmic-ray lists and makes the
changes: another comparison, number or operator. A written seed chooses among the lines that tests
of the part run, at most one change at a place. The tests that run the line then run in a copy of the
checkout, those first that run the fewest others. What none of them noticed is printed.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any

import pytest
from coverage import Coverage

from planted.run import COPIES, copied, run

SEED, COUNT = "saratoga", 40
COSMIC_RAY = Path(sys.prefix) / "mutants" / "bin" / "cosmic-ray"
EQUAL = "BitOr|Is_Eq$|IsNot_NotEq$|_Eq_Is$|NotEq_IsNot$"
"""Operators that change only annotations, or nothing for the values that are compared here."""
HANGS = 120
"""Seconds after which a test has noticed that something hangs."""
FIRST = 40
"""The number of tests that try to notice a change before all the others do."""

RULES, SERVER = "protocol/saratoga_rules", "server/saratoga_server"
SESSION = "client/saratoga_client/session"
NODE = "tests/server/live tests/server/handlers tests/faults/test_repeats.py"
PARTS = {
    "rules": (f"{RULES}/games {RULES}/stuck {RULES}/vocabulary {RULES}/play.py", "tests/rules"),
    "records": (f"{RULES}/records", "tests/rules/records tests/rules/test_forgeries.py"),
    "domain": (f"{SERVER}/domain", f"tests/server/domain {NODE}"),
    "live": (f"{SERVER}/live", NODE),
    "store": (f"{SERVER}/store", f"tests/server/store tests/faults/test_store_faults.py {NODE}"),
    "transport": (f"{SERVER}/transport", "tests/server/transport tests/hostile"),
    "session": (SESSION, "tests/client/session tests/client/plain"),
    "fairness": (
        f"{SESSION}/fairness.py {SESSION}/witness.py {SESSION}/facts.py {SESSION}/verdict.py "
        f"{SESSION}/record_keeper.py {RULES}/dealing",
        "tests/client/session tests/rules/test_deal.py",
    ),
}
"""For each part, its paths, and the paths of its tests."""

Mutation = dict[str, Any]
Tests = dict[tuple[str, int], list[str]]
"""The tests that run a line of a file, those first that run the fewest lines."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let coverage note which test runs a line; this module is a plugin where coverage is measured."""
    if (measuring := Coverage.current()) is not None:
        measuring.switch_context(item.nodeid.partition("[")[0])


def covered(copy: Path, paths: list[str], tests: list[str]) -> Tests:
    """Return the tests that run each line of these paths."""
    data, coverage = "--data-file=.covered", ("-m", "coverage")
    included = f"--include={','.join(f'{path},{path}/*,{path}/*/*' for path in paths)}"
    how = (*coverage, "run", "--rcfile=/dev/null", data, included)
    if (ended := run(copy, ["-p", "planted.mutants", *tests], *how)).returncode:
        sys.exit(f"{ended.stdout[-2000:]}\nThey fail without a mutation.")
    python = str(copy / ".venv/bin/python")
    asked = [python, *coverage, "json", data, "--show-contexts", "-q", "-o", "-"]
    found = subprocess.run(asked, cwd=copy, check=True, stdout=subprocess.PIPE).stdout
    lines = {
        (path, int(line)): set(names) - {""}
        for path, file in json.loads(found)["files"].items()
        for line, names in file["contexts"].items()
    }
    size = Counter(name for names in lines.values() for name in names)
    return {
        at: sorted(names, key=lambda name: (size[name], name))
        for at, names in lines.items()
        if names
    }


def mutations(copy: Path, name: str, lines: Tests) -> list[Mutation]:
    """Return mutations of a part, chosen by the seed among those on these lines."""
    settings, session = copy.parent / "settings.toml", copy.parent / "session.sqlite"
    settings.write_text(
        f"[cosmic-ray]\nmodule-path = {json.dumps(PARTS[name][0].split())}\ntimeout = 1.0\n"
        'excluded-modules = []\ntest-command = ""\ndistributor.name = "local"\n'
    )
    subprocess.run([COSMIC_RAY, "init", settings, session, "--force"], cwd=copy, check=True)
    dump = subprocess.run([COSMIC_RAY, "dump", session], check=True, stdout=subprocess.PIPE).stdout
    places: dict[tuple[str, int, int], list[Mutation]] = {}
    for item in map(json.loads, dump.splitlines()):
        (found,) = item[0]["mutations"]
        path, (line, column) = found["module_path"], found["start_pos"]
        if (path, line) in lines and not re.search(EQUAL, found["operator_name"]):
            places.setdefault((path, line, column), []).append(found)
    chance = Random(f"{SEED} {name}")
    chosen = chance.sample(sorted(places), min(COUNT, len(places)))
    return [
        chance.choice(sorted(places[at], key=lambda one: str(one["operator_name"])))
        for at in chosen
    ]


def score(name: str, copies: SimpleQueue[Path]) -> None:
    """Print how many of a part's mutations its tests notice, and the others."""
    paths, tests = (words.split() for words in PARTS[name])
    copy = copies.get()
    lines = covered(copy, paths, tests)
    chosen = mutations(copy, name, lines)
    copies.put(copy)

    def survives(mutation: Mutation) -> bool:
        """Make the mutation in a copy, test it, and take it back."""
        copy, path, line = copies.get(), mutation["module_path"], mutation["start_pos"][0]
        before = (copy / path).read_bytes()
        what = (path, mutation["operator_name"], str(mutation["occurrence"]))
        subprocess.run([COSMIC_RAY, "apply", *what], cwd=copy, check=True, capture_output=True)
        try:
            for some in (lines[path, line][:FIRST], lines[path, line][FIRST:]):
                if some and run(copy, some, hangs=HANGS).returncode:
                    return False
        except subprocess.TimeoutExpired:
            return False
        finally:
            (copy / path).write_bytes(before)
            copies.put(copy)
        print(f"    {path}:{line} {' '.join(what[1:])}", flush=True)
        return True

    with ThreadPoolExecutor(COPIES) as threads:
        left = sum(threads.map(survives, chosen))
    print(f"{name}: {len(chosen) - left} of {len(chosen)} noticed", flush=True)


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(COPIES):
            copies.put(copied(Path(folder) / str(number)))
        for name in names or PARTS:
            score(name, copies)


if __name__ == "__main__":
    main(sys.argv[1:])

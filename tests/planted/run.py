"""Plant each fault of this folder in a copy of the program, and say which of them the tests find.

A fault is a file `NAME.patch`: a sentence, a line `tests: ` with the arguments for pytest that
select the tests which can reach it, and a diff. A fault is found if one of those tests fails with
the patch and passes without it. Usage: `make planted`, or `make planted ARGS="NAME ..."` for some
faults.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COPIES = 2
LONGEST = 900
"""Seconds that the tests of one fault may take."""


class Fault(NamedTuple):
    name: str
    sentence: str
    tests: list[str]
    patch: Path


def faults(names: list[str]) -> list[Fault]:
    """Return the faults with these names, or all of them."""
    found = []
    for patch in sorted(HERE.glob("*.patch")):
        sentence, tests = (
            patch.read_text(encoding="utf-8").split("\ndiff --git", 1)[0].split("tests:")
        )
        found.append(Fault(patch.stem, " ".join(sentence.split()), shlex.split(tests), patch))
    unknown = set(names) - {fault.name for fault in found}
    if unknown:
        sys.exit(f"No such fault: {', '.join(sorted(unknown))}.")
    return [fault for fault in found if not names or fault.name in names]


def copied(folder: Path) -> Path:
    """Copy the checkout, with a virtual environment that imports the copy, into the folder."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in names.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for git in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *git], cwd=folder, check=True)
    environment = folder / ".venv"
    venv.create(environment, symlinks=True)
    libraries = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    own = environment / libraries.relative_to(sys.prefix)
    paths = [*(folder / part for part in ("protocol", "server", "client")), libraries]
    (own / "copy.pth").write_text("".join(f"{path}\n" for path in paths))
    for program in (Path(sys.prefix) / "bin").iterdir():
        if (
            program.name not in ("python", "python3")
            and not (environment / "bin" / program.name).exists()
        ):
            text = program.read_bytes()
            (environment / "bin" / program.name).write_bytes(
                text.replace(str(Path(sys.prefix)).encode(), str(environment).encode())
                if text.startswith(b"#!")
                else text
            )
            (environment / "bin" / program.name).chmod(0o755)
    return folder


def run(
    copy: Path, arguments: list[str], *before: str, hangs: int = 300
) -> subprocess.CompletedProcess[str]:
    """Run pytest in the copy, up to the first failure; a test fails after `hangs` seconds."""
    marked = [] if "-m" in arguments else ["-m", "not long and not browser"]
    hang = ["-o", f"faulthandler_timeout={hangs}", "-o", "faulthandler_exit_on_timeout=true"]
    quiet = ["-x", "-q", "-p", "no:cacheprovider"]
    python = [str(copy / ".venv/bin/python"), *before, "-m", "pytest"]
    return subprocess.run(
        [*python, *quiet, *hang, *marked, *arguments],
        cwd=copy,
        env=os.environ | {"SARATOGA_HYPOTHESIS_PROFILE": "planted"},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )


def verdict(copy: Path, fault: Fault) -> str:
    """Plant the fault in the copy, run its tests, and return the test that finds it or why none does."""
    apply = ["git", "apply", "--recount"]
    if subprocess.run([*apply, fault.patch], cwd=copy, check=False).returncode:
        return "NOT PLANTED: the patch does not apply"
    try:
        outcome = run(copy, fault.tests)
    except subprocess.TimeoutExpired:
        return f"NOT FOUND within {LONGEST} s"
    finally:
        subprocess.run([*apply, "-R", fault.patch], cwd=copy, check=True)
    failed = re.findall(
        r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", outcome.stdout, re.MULTILINE
    )
    if outcome.returncode == 0:
        return "NOT FOUND"
    if outcome.returncode != 1 or not failed:
        return f"NOT RUN: pytest ended with {outcome.returncode}\n{outcome.stdout[-2000:]}"
    arguments = ["-m", "browser"] if "browser" in fault.tests else []
    if run(copy, [*arguments, failed[0]]).returncode:
        return f"NOT FOUND: {failed[0]} fails without the fault too"
    return f"found by {failed[0]}"


def main(names: list[str]) -> int:
    """Return 0 if every fault is found."""
    every = faults(names)
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(min(COPIES, len(every))):
            copies.put(copied(Path(folder) / str(number)))

        def judged(fault: Fault) -> bool:
            copy = copies.get()
            try:
                said = verdict(copy, fault)
            finally:
                copies.put(copy)
            print(f"{fault.name}: {said}\n    {fault.sentence}", flush=True)
            return said.startswith("found")

        with ThreadPoolExecutor(COPIES) as threads:
            found = sum(threads.map(judged, every))
    print(f"{found} of {len(every)} planted faults found")
    return int(found < len(every))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Compiles the judge where that is asked for: `SARATOGA_COMPILE=1 pip install '.[server]'`.

mypyc makes an extension of those modules of the rules that every move goes through. Their source
is the same, and is installed beside it. It takes a C compiler and Python's headers, and half a
minute; every other install runs the source.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SWITCH: Final = "SARATOGA_COMPILE"

TOOLS: Final = ("mypy>=1.18", "setuptools>=75")
"""What is installed for the time of the build."""

PACKAGE: Final = "saratoga_rules"

MODULES: Final = (
    *("moves", "position", "building", "packets", "foundations", "tableau", "views"),
    *("judge", "proposals", "effects", "prospects", "stuck", "arrangements", "peeling"),
)
"""All that takes time. A class that inherits from `str`, as `Pile` does, mypyc cannot compile."""


def is_wanted() -> bool:
    return os.environ.get(SWITCH, "") not in ("", "0")


def compiled(source: Path, folder: Path) -> Iterator[Path]:
    """Compile the modules of the package in `source`; the libraries, as they lie in `folder`."""
    # only those who build have them
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory(prefix="saratoga-compiling-") as scratch:
        extensions = mypycify(
            [
                *("--config-file=", "--cache-dir", f"{scratch}/cache"),
                *(str(source / PACKAGE / f"{module}.py") for module in MODULES),
            ],
            group_name=PACKAGE,
            debug_level="0",
            target_dir=f"{scratch}/c",
        )
        building = build_ext(Distribution({"name": PACKAGE, "ext_modules": extensions}))
        building.build_lib, building.build_temp = str(folder), f"{scratch}/objects"
        building.ensure_finalized()
        building.run()
    return (path for path in folder.rglob("*") if path.suffix in (".so", ".pyd"))


class Compilation(BuildHookInterface[Any]):
    """Puts what was compiled into the wheel, which is then one for this machine's kind alone."""

    PLUGIN_NAME = "custom"

    _libraries: tempfile.TemporaryDirectory[str] | None = None
    """What was compiled, until it is in the wheel."""

    def dependencies(self) -> list[str]:
        return [*TOOLS] if is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not is_wanted() or version == "editable":
            return
        self._libraries = tempfile.TemporaryDirectory(prefix="saratoga-compiled-")
        folder = Path(self._libraries.name)
        for library in compiled(Path(self.root) / "protocol", folder):
            build_data["force_include"][str(library)] = str(library.relative_to(folder))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._libraries is not None:
            self._libraries.cleanup()

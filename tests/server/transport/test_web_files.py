"""The files of the page, read once when the server starts."""

import gzip
import re
import tomllib
from pathlib import Path

import pytest

from saratoga_server.transport.game_facts import game_facts
from saratoga_server.transport.web_files import (
    PACKAGE,
    WebFile,
    load_web_files,
    web_file,
    web_folder,
    without_comments,
)

INDEX = '<link href="/static/page.css"><script src="/static/main.js"></script>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "main.js").write_text("import './parts/board.js';\n" * 100)
    (tmp_path / "page.css").write_text("body{}")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "board.js").write_text("export {};")
    (tmp_path / "notes.md").write_text("not for players")
    (tmp_path / ".hidden.js").write_text("not for players")
    return tmp_path


def test_files_that_browsers_need_are_read_and_others_are_not(folder: Path) -> None:
    web = load_web_files(folder)
    assert web is not None
    assert set(web.files) == {"main.js", "page.css", "parts/board.js"}
    assert web.files["main.js"].kind == "text/javascript; charset=utf-8"
    assert web.files["page.css"].kind == "text/css; charset=utf-8"
    assert web.index.kind == "text/html; charset=utf-8"


def test_the_index_names_its_files_in_the_folder_with_their_hash(folder: Path) -> None:
    web = load_web_files(folder)
    assert web is not None
    assert web.index.body.decode() == INDEX.replace("/static/", f"/static/{web.version}/")


def test_the_index_has_the_facts_of_the_games() -> None:
    web = load_web_files(web_folder())
    assert web is not None
    assert b'id="facts">' + game_facts() + b"</script>" in web.index.body


def test_the_folder_is_named_anew_whenever_a_file_changes_or_is_renamed(folder: Path) -> None:
    names = []
    for change in (
        lambda: None,
        lambda: (folder / "main.js").write_text("export {};"),
        lambda: (folder / "page.css").rename(folder / "look.css"),
    ):
        change()
        web = load_web_files(folder)
        assert web is not None
        names.append(web.version)
    assert len(set(names)) == 3
    again = load_web_files(folder)
    assert again is not None
    assert again.version == names[-1]


def test_a_file_is_compressed_if_that_is_smaller() -> None:
    long, short = web_file(b"a" * 1000, "text/plain"), web_file(b"a", "text/plain")
    assert gzip.decompress(long.compressed) == long.body
    assert len(long.compressed) < 100
    assert short.compressed == b""


def test_a_server_without_the_folder_has_no_page() -> None:
    assert load_web_files(None) is None


@pytest.fixture
def first_load() -> dict[str, WebFile]:
    """The modules of this checkout's page that load with it: all that `main.js` imports, and their imports."""
    web = load_web_files(web_folder())
    assert web is not None
    found, named = {}, ["main.js"]
    while named:
        name = named.pop()
        if name not in found:
            found[name] = web.files[name]
            named += re.findall(r'\bfrom "\./([^"]+)"', web.files[name].body.decode())
    return found


def test_the_first_load_is_small_and_of_few_requests(first_load: dict[str, WebFile]) -> None:
    web = load_web_files(web_folder())
    assert web is not None
    files = [web.index, web.files["page.css"], web.files["icon.svg"], *first_load.values()]
    assert sum(len(file.compressed or file.body) for file in files) <= 80 * 1024
    assert len(files) <= 20


def test_every_module_is_named_for_the_browser_to_load_at_once(
    first_load: dict[str, WebFile],
) -> None:
    web = load_web_files(web_folder())
    assert web is not None
    named = re.findall(r'rel="modulepreload" href="/static/\w+/([^"]+)"', web.index.body.decode())
    assert sorted(named) == sorted(first_load)


def test_comments_are_left_out_and_every_line_keeps_its_number() -> None:
    script = """/** What it is for. */
const link = "http://localhost"; // beside code it stays
/* long
 * comment */ const kept = 1;
    // alone
  /**
   * Of two
   */
const pattern = /\\/\\*x/;
"""
    lines = script.split("\n")
    assert without_comments(script).split("\n") == ["", *lines[1:4], "", "", "", "", *lines[8:]]


def test_no_template_of_the_page_has_a_line_that_looks_like_a_comment() -> None:
    folder = web_folder()
    assert folder is not None
    for path in folder.rglob("*.js"):
        text = path.read_text()
        for place, (was, now) in enumerate(
            zip(text.split("\n"), without_comments(text).split("\n"), strict=True), 1
        ):
            before = without_comments("\n".join(text.split("\n")[: place - 1]))
            assert was == now or before.count("`") % 2 == 0, f"{path.name}:{place}"


@pytest.mark.parametrize("place", ["server/saratoga_server/web", "client/web"])
def test_the_page_is_found_in_a_wheel_and_in_a_checkout(tmp_path: Path, place: str) -> None:
    package = tmp_path / "server" / "saratoga_server"
    assert web_folder(package) is None
    (tmp_path / place).mkdir(parents=True)
    assert web_folder(package) is None
    (tmp_path / place / "index.html").write_text(INDEX)
    assert web_folder(package) == tmp_path / place


def test_the_wheel_has_the_page_in_the_package_of_the_server() -> None:
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"client/web": f"{PACKAGE.name}/web"}


def test_the_page_of_this_checkout_is_whole() -> None:
    folder = web_folder()
    assert folder is not None
    web = load_web_files(folder)
    assert web is not None
    assert {"main.js", "page.css", "icon.svg"} <= set(web.files)

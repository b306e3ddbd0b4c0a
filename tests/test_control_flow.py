"""Control flow runs one way: no callback is assigned to an object that exists already."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "server" / "saratoga_server"


def functions(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names of functions and methods, except those of properties and fields."""
    found: set[str] = set()
    values: set[str] = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case (
                ast.FunctionDef(name=name, decorator_list=decorators)
                | ast.AsyncFunctionDef(name=name, decorator_list=decorators)
            ):
                is_value = any("property" in ast.unparse(each) for each in decorators)
                (values if is_value else found).add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                values.add(name)
    return found - values


def assigned_callbacks(tree: ast.Module, known: set[str]) -> Iterator[str]:
    """Yield every attribute of another object that is given a lambda or a function of a known name."""
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        match node.value:
            case ast.Lambda():
                pass
            case ast.Attribute(attr=name) if name in known:
                pass
            case ast.Name(id=name) if name in known - parameters:
                pass
            case _:
                continue
        for target in node.targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) != "self":
                yield ast.unparse(target)


def test_no_callback_is_assigned_after_construction() -> None:
    trees = {
        str(path.relative_to(SERVER)): ast.parse(path.read_text()) for path in SERVER.rglob("*.py")
    }
    known = functions(trees.values())
    found = {
        f"{path}: {target}"
        for path, tree in trees.items()
        for target in assigned_callbacks(tree, known)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(): pass\na.on_end = f", ["a.on_end"]),
        ("a.on_end = lambda: None", ["a.on_end"]),
        (
            "class A:\n def end(self): pass\n def g(self): self.b.on_end = self.end",
            ["self.b.on_end"],
        ),
        ("class A:\n def __init__(self, end): self.on_end = end", []),
        ("class A:\n @property\n def state(self): pass\nb.state = a.state", []),
        ("class A:\n state: int\ndef state(): pass\nb.state = a.state", []),
        ("def f(): pass\ndef g(f): a.b = f", []),
        ("a.b = c.d", []),
    ],
)
def test_assigned_callbacks_and_assigned_values_are_distinguished(
    text: str, found: list[str]
) -> None:
    tree = ast.parse(text)
    assert list(assigned_callbacks(tree, functions([tree]))) == found

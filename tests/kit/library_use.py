"""Find the names of third-party libraries that a Python file uses, by parsing the file.

It finds imported modules and names; attributes of them (`msgspec.json.Decoder`); attributes of values
that the file annotates with a class of the library or makes by calling one (`client: Redis`,
`Redis(...)`); and what a subclass of such a class inherits or overrides. It does not find attributes of
values whose type is declared in another file: mypy checks those, and ruff's SLF rules find leading
underscores everywhere.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple, get_type_hints

FRAMES = re.compile(
    r"(gi|cr|ag|tb|f)_(frame|yieldfrom|await|code|back|locals|globals|running)|__code__"
)
"""Attributes that inspect a generator, coroutine, function or frame."""

CHANGES = ("setattr", "delattr")
BY_NAME = (*CHANGES, "getattr", "hasattr", "attrgetter", "Path", "joinpath", "import_module")
"""Functions that take the name of an attribute or a file as a string."""

Types = dict[str, str]
"""The library class of each variable, and of each attribute of `self`."""


class Use(NamedTuple):
    """A used name and its line."""

    name: str
    line: int


def library_uses(text: str, libraries: Collection[str]) -> list[Use]:
    """Return every use of these libraries, each as a dotted name that starts with the library's name."""
    reader = _Reader(libraries)
    reader.visit(ast.parse(text))
    return reader.uses


def hidden_uses(text: str) -> Iterator[Use]:
    """Find uses of private parts that ruff's SLF rules do not find.

    They are names with a leading underscore in strings, stack frames, and assignments to attributes
    of imported modules, classes and functions.
    """
    tree = ast.parse(text)
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function, args=args) if _name(function) in BY_NAME:
                for each in args:
                    match each:
                        case ast.Constant(value=str(word)) if re.fullmatch(r"_[a-z]\w*", word):
                            yield Use(f'{_name(function)}("{word}")', node.lineno)
                        case ast.Name(id=root) if root in imported and _name(function) in CHANGES:
                            yield Use(f"{_name(function)}({root}, ...)", node.lineno)
            case ast.Attribute(attr=word) if FRAMES.fullmatch(word):
                yield Use(f".{word}", node.lineno)
            case ast.Attribute(value=ast.Name(id=root), ctx=ast.Store() | ast.Del()) if (
                root in imported
            ):
                yield Use(f"{root}.{node.attr} =", node.lineno)


class _Reader(ast.NodeVisitor):
    """A visitor that collects the library uses in one file."""

    def __init__(self, libraries: Collection[str]) -> None:
        self.uses: list[Use] = []
        self._libraries = libraries
        self._imported: Types = {}
        self._known: Types = {}
        """The types of the local variables, and of the attributes of `self`."""
        self._base = ""
        """The library class from which the enclosing class derives."""
        self._own: set[str] = set()
        """The names that the enclosing class defines."""

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] in self._libraries:
                self._use(alias.name, node)
                self._imported[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and node.module.partition(".")[0] in self._libraries:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                self._use(name, node)
                self._imported[alias.asname or alias.name] = name

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outside = self._known, self._base, self._own
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        self._base = next(filter(None, map(self._type, node.bases)), "")
        self._own = {name for name in _defined(node) if not has_attribute(self._base, name)}
        for name in {each.name for each in node.body if isinstance(each, _FUNCTIONS)} - self._own:
            self._use(f"{self._base}.{name}", node)
        self._known = self._known | self._attributes(node)
        for statement in node.body:
            self.visit(statement)
        self._known, self._base, self._own = outside

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outside = self._known
        self._known = self._known | self._parameters(node)
        for statement in ast.walk(node):
            self._known.update(self._assigned(statement, self._known))
        self.generic_visit(node)
        self._known = outside

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root, chain = _chain(node)
        if not isinstance(root, ast.Name):
            self.generic_visit(node)
            return
        if root.id == "self" and f"self.{chain[0]}" in self._known:
            name, chain = self._known[f"self.{chain[0]}"], chain[1:]
        elif root.id == "self" and self._base and chain[0] not in self._own:
            name = self._base
        else:
            name = self._known.get(root.id) or self._imported.get(root.id, "")
        if name and chain:
            self._use(".".join((name, *chain)), node)

    def _use(self, name: str, node: ast.AST) -> None:
        self.uses.append(Use(name, getattr(node, "lineno", 0)))

    def _type(self, annotation: ast.expr | None) -> str:
        """Return the library class that an annotation names, the first one if it names several."""
        match annotation:
            case ast.Name(id=name):
                return self._imported.get(name, "")
            case ast.Attribute():
                root, chain = _chain(annotation)
                found = self._imported.get(root.id, "") if isinstance(root, ast.Name) else ""
                return ".".join((found, *chain)) if found else ""
            case ast.BinOp(left=left, right=right):
                return self._type(left) or self._type(right)
            case ast.Subscript(value=value):
                return self._type(value)
            case ast.Constant(value=str(text)):
                return self._type(ast.parse(text, mode="eval").body)
        return ""

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Types:
        every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        return {each.arg: kind for each in every if (kind := self._type(each.annotation))}

    def _attributes(self, node: ast.ClassDef) -> Types:
        """Return the library classes of the attributes that a class's instances have, by `self.name`."""
        found: Types = {}
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                found[f"self.{statement.target.id}"] = self._type(statement.annotation)
            if isinstance(statement, _FUNCTIONS):
                parameters = self._parameters(statement)
                for each in ast.walk(statement):
                    assigned = self._assigned(each, parameters)
                    found |= {to: kind for to, kind in assigned.items() if to.startswith("self.")}
        return {to: kind for to, kind in found.items() if kind}

    def _assigned(self, statement: ast.AST, known: Types) -> Types:
        """Return the library class of each name that an assignment or a `with` binds."""
        match statement:
            case ast.AnnAssign(target=target, annotation=annotation):
                kind = self._type(annotation)
            case ast.Assign(targets=[target], value=value):
                kind = self._value(value, known)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                kind = self._value(value, known)
            case _:
                return {}
        place = ast.unparse(target)
        return {place: kind} if kind and re.fullmatch(r"(self\.)?\w+", place) else {}

    def _value(self, value: ast.expr, known: Types) -> str:
        match value:
            case ast.Name(id=name):
                return known.get(name, "")
            case ast.Call(func=function):
                return _returned(self._type(function))
        return ""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _chain(node: ast.Attribute) -> tuple[ast.expr, list[str]]:
    """Return the expression before all dots, and the names after it."""
    names: list[str] = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        names.insert(0, value.attr)
        value = value.value
    return value, names


def _name(function: ast.expr) -> str:
    """Return the last part of a called function's dotted name."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _defined(node: ast.ClassDef) -> set[str]:
    """Return the names that a class defines, in its body and on `self`."""
    names = {each.name for each in node.body if isinstance(each, (*_FUNCTIONS, ast.ClassDef))}
    for each in ast.walk(node):
        match each:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
    return names


@cache
def has_attribute(name: str, attribute: str) -> bool:
    """Return whether a library class, given by its dotted name, has that attribute.

    Special methods such as `__init__` do not count: they belong to Python.
    """
    found = _class(name)
    if found is None or re.fullmatch(r"__\w+__", attribute):
        return False
    return hasattr(found, attribute) or any(attribute in _set_on_self(each) for each in found.mro())


@cache
def _class(name: str) -> type | None:
    """Return the class with that dotted name, `None` if it is not a class."""
    found = _object(name)
    return found if inspect.isclass(found) else None


def _returned(name: str) -> str:
    """Return the dotted name of the class that a call of a library's function or class returns."""
    called = _object(name)
    if inspect.isfunction(called):
        called = _hints(called).get("return")
        name = f"{called.__module__}.{called.__qualname__}" if inspect.isclass(called) else ""
    return name if inspect.isclass(called) else ""


def _hints(called: object) -> dict[str, object]:
    """Return a function's annotations; empty if one needs an import made only for type checkers."""
    try:
        return get_type_hints(called)
    except NameError:
        return {}


def _object(name: str) -> object:
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last, None) if module else None
    except ModuleNotFoundError:
        return None


@cache
def _set_on_self(kind: type) -> frozenset[str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError):
        return frozenset()
    (node,) = tree.body
    assert isinstance(node, ast.ClassDef)
    return frozenset(_defined(node))

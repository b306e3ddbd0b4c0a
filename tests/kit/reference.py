"""Write `REFERENCE.md`, `schema.json` and `wire.d.ts` in `protocol` from the structs of the wire,
and the cases of the page's tests from the rules: `make reference`.

The fields, types, limits and defaults come from the structs, the sentences from the docstrings
below them in the source.
"""

import ast
import hashlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import NODEFAULT, Struct

from kit.messages import COMMANDS, EVENTS
from kit.positions import banking, wandering
from kit.races import Entrant, countdown_voided, race
from saratoga_protocol import commands, events, refusals
from saratoga_protocol.codec import MAX_COMMAND_BYTES, SUBPROTOCOLS, WIRE_VERSION
from saratoga_protocol.commands import LARGEST_NUMBER, Command, player_id
from saratoga_protocol.events import Event
from saratoga_protocol.refusals import REASONS, RETRIED, RETRY_WAIT, CloseCode
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.position import format_position, redact
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import KNOWN, VOID_REASONS, format_record
from saratoga_rules.records.replay import steps
from saratoga_rules.records.standing import LOG_ENDINGS, State
from saratoga_server.domain.open_races import DAY
from saratoga_server.domain.replays import ReplayedRace
from saratoga_server.domain.tables.state import TablePhase
from saratoga_server.transport.web_files import game_facts

FOLDER: Final = Path(__file__).parents[2] / "protocol"
MODULES: Final = (commands, events)

INTRODUCTION: Final = """\
# Reference of the wire

Every command, event and structure with all fields, the refusals, the close codes, and the words that
stand for states. `make reference` writes this page and `schema.json` (JSON Schema) from the code; a
test compares them. [README.md](README.md) explains how they are used.

A field without a default is always sent. A field that has its default may be left out, and the server
leaves it out. Every command also has `id` (int, 1 to 2^53 - 1), and every event that answers a command
has the command's id as `re`. Times are milliseconds since 1970 UTC by the server's clock, durations
milliseconds, money casino dollars. A card is two characters, rank (`A23456789TJQK`) and suit (`CSHD`);
a pile is one string of cards from bottom to top. The server decodes commands strictly: it refuses an
unknown field, a wrong type and a value beyond its limits. Clients ignore unknown fields and events.
"""


class Line(NamedTuple):
    """An annotated name in the source, with its value and the docstring below it."""

    annotation: ast.expr
    value: ast.expr | None
    text: str


def documented(body: Sequence[ast.stmt]) -> dict[str, Line]:
    """Return every annotated name of a module or a class."""
    found = {}
    for statement, below in zip(body, [*body[1:], ast.Pass()], strict=True):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                found[name] = Line(statement.annotation, statement.value, str(text))
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                found[name] = Line(statement.annotation, statement.value, "")
    return found


SOURCE: Final = [each for module in MODULES for each in ast.parse(inspect.getsource(module)).body]
FIELDS: Final = {
    each.name: documented(each.body) for each in SOURCE if isinstance(each, ast.ClassDef)
}
TYPES: Final = {
    name: line
    for name, line in documented(SOURCE).items()
    if ast.unparse(line.annotation) == "TypeAlias"
}
MESSAGES: Final = (*Command.__subclasses__(), *Event.__subclasses__())
TAGS: Final = {kind.__name__: str(kind.__struct_config__.tag) for kind in MESSAGES}
STRUCTURES: Final = [
    kind
    for module in MODULES
    for name, kind in vars(module).items()
    if name in FIELDS.keys() - TAGS.keys() - {"Command", "Event"}
    and kind.__module__ == module.__name__
]


def shown(text: str) -> str:
    """Return a docstring on one line, with the words of the wire in place of those of the code."""
    return " ".join(re.sub(r"`(\w+)(\.\w+)?`", of_the_wire, text).split())


def of_the_wire(found: re.Match[str]) -> str:
    """Return the tag of a message, the value of a constant, or the text as it stands."""
    name, field = found[1], found[2] or ""
    if name in TAGS:
        return f"`{TAGS[name]}{field}`"
    constant = next((vars(module)[name] for module in MODULES if name in vars(module)), None)
    if isinstance(constant, int):
        return str(constant)
    return "`null`" if name == "None" else found[0]


def type_words(annotation: ast.expr) -> str:
    """Return an annotation in words."""
    match annotation:
        case ast.Constant(value=None):
            return "null"
        case ast.BinOp(left=left, right=right):
            return f"{type_words(left)} or {type_words(right)}"
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return f"list of {type_words(inner)}"
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, value])):
            return f"map from {type_words(key)} to {type_words(value)}"
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[base, meta])):
            return f"{type_words(base)} {limits(meta)}"
        case ast.Name(id=name) if name in TYPES:
            return f"[{name}](#types)"
        case ast.Name(id=name) if name in FIELDS:
            return f"[{name}](#{name.lower()})"
        case _:
            return {"str": "string"}.get(ast.unparse(annotation), ast.unparse(annotation))


def limits(meta: ast.expr) -> str:
    """Return the arguments of `Meta` in words."""
    assert isinstance(meta, ast.Call)
    given = {each.arg: ast.unparse(each.value) for each in meta.keywords}
    if "pattern" in given:
        pattern = ast.literal_eval(given["pattern"]).removeprefix("^").removesuffix(r"\Z")
        return f"`{pattern}`".replace("|", r"\|")
    low = given.get("ge", given.get("min_length", "0"))
    high = given.get("le", given.get("max_length"))
    unit = " characters" if "max_length" in given else ""
    return f"{low} to {high}{unit}".replace("LARGEST_NUMBER", "2^53 - 1")


def rows(kind: type[Struct]) -> Iterator[str]:
    """Yield the table of a struct's fields, without those of the base of all messages."""
    lines = FIELDS[kind.__name__]
    if lines:
        yield "| field | type | default | |"
        yield "|---|---|---|---|"
    for field in msgspec.structs.fields(kind):
        if field.name not in lines:
            continue
        default = field.default
        if field.default_factory is not NODEFAULT:
            default = field.default_factory()
        written = "" if default is NODEFAULT else f"`{json.dumps(default)}`"
        line = lines[field.name]
        words = shown(line.text).replace("|", r"\|")
        yield f"| `{field.name}` | {type_words(line.annotation)} | {written} | {words} |"


def section(title: str, kind: type[Struct], example: object = None) -> Iterator[str]:
    """Yield the section of a message or a structure."""
    yield f"### {title}\n"
    yield "\n\n".join(map(shown, inspect.getdoc(kind).split("\n\n"))) + "\n"  # type: ignore[union-attr]
    if table := list(rows(kind)):
        yield "\n".join(table) + "\n"
    if example is not None:
        yield f"```json\n{msgspec.json.encode(example).decode()}\n```\n"


def page() -> str:
    """Return REFERENCE.md."""
    lines = [INTRODUCTION, "## Types\n", "| type | is | |", "|---|---|---|"]
    for name, line in TYPES.items():
        assert line.value is not None
        lines.append(f"| {name} | {type_words(line.value)} | {shown(line.text)} |")
    for title, kinds, examples in (
        ("\n## Commands\n", Command.__subclasses__(), COMMANDS),
        ("## Events\n", Event.__subclasses__(), EVENTS),
    ):
        lines.append(title)
        for kind in kinds:
            tag = TAGS[kind.__name__]
            lines += section(f"`{tag}`", kind, examples.get(tag))
    lines.append("## Structures\n")
    for kind in STRUCTURES:
        lines += section(kind.__name__, kind)
    lines += ["## Refusals\n", "| code | retry | message |", "|---|---|---|"]
    for code, sentence in REASONS.items():
        lines.append(f"| `{code}` | {'yes' if code in RETRIED else 'no'} | {sentence} |")
    lines += ["\n## Close codes\n", "| code | reason |", "|---|---|"]
    lines += [f"| {each.code} | {each.reason} |" for each in close_codes()]
    lines += ["\n## Words\n", "| of | are |", "|---|---|"]
    for title, known in WORDS.items():
        lines.append(f"| {title.replace('_', ' ')} | {' '.join(f'`{word}`' for word in known)} |")
    return "\n".join(lines) + "\n"


WORDS: Final[Mapping[str, list[str]]] = {
    "phases": [phase.value for phase in TablePhase],
    "states": [state.value for state in State],
    "endings": [state.value for state in State if state in LOG_ENDINGS],
    "void_reasons": list(VOID_REASONS),
    "games": list(GAMES),
}


def close_codes() -> list[CloseCode]:
    return [code for code in vars(refusals).values() if isinstance(code, CloseCode)]


def schema() -> str:
    """Return schema.json: JSON Schema of all messages, and every constant that a client needs."""
    _, definitions = msgspec.json.schema_components(MESSAGES, ref_template="#/$defs/{name}")
    for kind in (*MESSAGES, *STRUCTURES):
        for name, line in FIELDS[kind.__name__].items():
            if line.text:
                definitions[kind.__name__]["properties"][name]["description"] = shown(line.text)
    content = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "protocol": WIRE_VERSION,
        "subprotocols": SUBPROTOCOLS,
        "rules": RULES_VERSION,
        "words": WORDS,
        "refusals": {
            code: {"message": sentence, "retry": code in RETRIED}
            for code, sentence in REASONS.items()
        },
        "retry_wait": RETRY_WAIT,
        "close_codes": {code.code: code.reason for code in close_codes()},
        "largest_number": LARGEST_NUMBER,
        "max_command_bytes": MAX_COMMAND_BYTES,
        "commands": [TAGS[kind.__name__] for kind in Command.__subclasses__()],
        "events": [TAGS[kind.__name__] for kind in Event.__subclasses__()],
        "$defs": definitions,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def types() -> str:
    """Return wire.d.ts: the TypeScript types of all messages, and of a race that the server replays."""
    _, definitions = msgspec.json.schema_components((*MESSAGES, ReplayedRace))
    lines = [
        "// Written by `make reference` from the structs of the wire. A field that may be left out has",
        "// the default that schema.json names.",
        "declare namespace Wire {",
    ]
    for name, kind in definitions.items():
        lines.append(f"  interface {name} {{")
        for field, of in kind["properties"].items():
            sign = ":" if field in kind["required"] else "?:"
            lines.append(f"    {field}{sign} {typed(of)};")
        lines.append("  }")
    for title, base in ("Command", Command), ("Event", Event):
        lines.append(f"  type {title} =")
        lines += [f"    | {kind.__name__}" for kind in base.__subclasses__()]
    return "\n".join([*lines, "}"]) + "\n"


def typed(of: Mapping[str, Any]) -> str:
    """Return the TypeScript type of a JSON Schema; null is written only where it is no default."""
    match of:
        case {"$ref": name}:
            return str(name).rpartition("/")[2]
        case {"enum": words}:
            return " | ".join(map(json.dumps, words))
        case {"anyOf": kinds}:
            present = [kind for kind in kinds if of.get("default", ...) or kind != {"type": "null"}]
            return " | ".join(map(typed, present))
        case {"type": "array", "items": items}:
            return f"{inner}[]" if (inner := typed(items)).isidentifier() else f"({inner})[]"
        case {"type": "object", "additionalProperties": values}:
            return f"{{ [key: string]: {typed(values)} }}"
        case {"type": kind}:
            return {"integer": "number"}.get(kind, str(kind))
        case _:
            raise ValueError(of)


TRUTH: Final = race(
    "canfield",
    5,
    [
        Entrant("Anna", banking, patience=7),
        Entrant("Bert", banking, patience=14, player=player_id("75" * 32)),
        Entrant("Carl", wandering, patience=9),
        Entrant("Zora", wandering, bot=True, patience=5),
    ],
    public=False,
)
OWN: Final = TRUTH.racers[0]
"""The race about which the page is lied to, and its racer."""

KEYS: Final = [bytes([number]) * 32 for number in range(3)]
"""The keys of the deals."""


def cases() -> str:
    """Return facts, deals, positions and records from the rules, one named value a line.

    The tests in `tests/page` compare the page's modules with them.
    """
    named = {
        "facts": json.loads(game_facts()),
        "deals": [
            {"game": name, "key": key.hex(), "deal": format_position(deal_for_key(game, key))}
            for name, game in GAMES.items()
            for key in KEYS
        ],
        "decks": {key.hex(): "".join(shuffled_deck(2, key)) for key in KEYS},
        "words": {digest: digest_words(digest) for digest in map(_digest, range(20))},
        "races": {name: _race(name) for name in GAMES},
        "truth": {"race": TRUTH.race_id, "text": format_record(TRUTH), "player": OWN.player},
        "voided": format_record(countdown_voided(TRUTH)),
        "open": {kind: _open_race(kind) for kind in (DAY, KNOWN)},
    }
    return "".join(json.dumps({name: value}) + "\n" for name, value in named.items())


def _open_race(kind: str) -> dict[str, str]:
    """Return a record of an open race with the racers of `TRUTH`, whose moves fit the known deal only."""
    race_id = "a" * 16 if kind == KNOWN else "day/canfield/2026-11-28"
    seed = TRUTH.key if kind == KNOWN else bytes.fromhex(TRUTH.seed)
    key = seed if kind == KNOWN else deal_key(seed, race_id, {})
    committed = commitment(seed, "canfield", TRUTH.rules_version, race_id, 1, cap=10, public=True)
    record = replace(
        TRUTH,
        kind=kind,
        table=race_id,
        closes=TRUTH.start_at + 1,
        cap=10,
        commitment="" if kind == KNOWN else committed,
        seed=seed.hex(),
        deal=deal_for_key(GAMES["canfield"], key),
        racers=tuple(replace(each, started=TRUTH.start_at) for each in TRUTH.racers),
    )
    return {"race": race_id, "text": format_record(record)}


def _digest(number: int) -> str:
    return hashlib.sha256(bytes([number])).hexdigest()


def _race(game: str) -> dict[str, Any]:
    """Return the record of a race, and the first racer's positions with their moves, as records and as the wire write them."""
    entrants = [
        Entrant("Anna", banking, patience=20),
        Entrant("Zo\u00eb", wandering, bot=True, patience=9),
    ]
    record = race(game, 3, entrants)
    made = steps(record, record.racers[0].player)
    positions = [record.opening, *(each.position for each in made)]
    return {
        "race": record.race_id,
        "text": format_record(record),
        "positions": [format_position(position) for position in positions],
        "views": [msgspec.to_builtins(wire_view(redact(position))) for position in positions],
        "moves": [each.line.text for each in made],
    }


FILES: Final = {
    "REFERENCE.md": page,
    "schema.json": schema,
    "wire.d.ts": types,
    "../tests/page/cases.jsonl": cases,
}

if __name__ == "__main__":
    for file, content in FILES.items():
        (FOLDER / file).write_text(content(), encoding="utf-8")

"""Shell commands that the program prints for the player or for friends.

Pure. Every printed command is made here, so that it is quoted for the shell.
`settings.server_to_name` tells whether it has to name its server.
"""

import re
import shlex
from typing import Final

from saratoga_client.local.origins import origin_of

_PLAIN: Final = re.compile(r"[\w@%+=:,./-][\w@%+=:,./#-]*", re.ASCII)
"""Words that no shell changes; `#` begins a comment only at the start of a word."""


def printed_command(*words: str, server: str = "") -> str:
    """Return the command `saratoga WORDS`, with `--server` if a server is given.

    >>> printed_command("verify", "mint-otter-42/3", server="ws://10.0.0.2:7470")
    'saratoga verify mint-otter-42/3 --server ws://10.0.0.2:7470'
    >>> printed_command("watch", "mint-otter-42; rm -rf ~")
    "saratoga watch 'mint-otter-42; rm -rf ~'"
    >>> printed_command("verify", "mint-otter-42/3#oak-pear-lamp-river"), printed_command("#comment")
    ('saratoga verify mint-otter-42/3#oak-pear-lamp-river', "saratoga '#comment'")
    """
    named = ("--server", server) if server else ()
    return " ".join(("saratoga", *map(_quoted, (*words, *named))))


def table_command(verb: str, code: str, server: str = "") -> str:
    """Return the command that goes to a table, by its URL if a server is given.

    >>> table_command("join", "mint-otter-42", "ws://10.0.0.2:7470/")
    'saratoga join ws://10.0.0.2:7470/mint-otter-42'
    """
    return printed_command(verb, f"{server.rstrip('/')}/{code}" if server else code)


def host_command(server: str) -> str:
    """Return the command that opens the server at an address of this machine again.

    >>> host_command("ws://127.0.0.1:8000"), host_command("ws://localhost:80")
    ('saratoga host --port 8000', 'saratoga host --port 80')
    """
    return printed_command("host", "--port", origin_of(server).rpartition(":")[2])


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)

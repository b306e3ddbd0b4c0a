"""The Function library: two releases of the server can load their versions of it into one store."""

import re

from saratoga_server.store.library import SOURCE, VERSION, VERSION_MARK, function_name


def test_library_and_functions_are_named_after_the_version_of_the_text() -> None:
    assert re.fullmatch("[0-9a-f]{10}", VERSION)
    assert VERSION_MARK not in SOURCE
    assert SOURCE.startswith(f"#!lua name=saratoga_{VERSION}\n")
    assert function_name("commit") == f"commit_{VERSION}"

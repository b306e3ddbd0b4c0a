"""The generated pages of the wire are those of the code."""

import pytest

from kit.reference import FILES, FOLDER


@pytest.mark.parametrize("name", FILES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    """After a change of the wire, `make reference` writes them again."""
    assert (FOLDER / name).read_text(encoding="utf-8") == FILES[name]()

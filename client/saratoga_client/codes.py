"""Patterns of table codes and race ids."""

from typing import Final

TABLE_CODE: Final = "[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}"

RACE_ID: Final = f"{TABLE_CODE}/[1-9][0-9]{{0,5}}"

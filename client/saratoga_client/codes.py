"""How the codes of tables and the ids of races look, wherever they come from."""

from typing import Final

TABLE_CODE: Final = "[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}"

RACE_ID: Final = f"{TABLE_CODE}/[1-9][0-9]{{0,5}}"

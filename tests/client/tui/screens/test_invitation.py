"""The link for browsers with its QR code, over the table."""

import pytest

from kit.session_states import seat, snapshot, state_after, table
from kit.table_screens import table_player
from saratoga_client.board_view.qr_code import qr_lines
from saratoga_client.session.invitation import Inviter
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_client.tui.screens.invitation import InvitationScreen

SEATS = [seat("y"), seat("a")]
GATHERING = state_after(first=snapshot(shown=table(phase="gathering", host="a", seats=SEATS)))
LINK = "http://192.168.1.7:7470/mint-otter-42"


@pytest.mark.parametrize("key", ["o", "escape", "q", "enter"])
async def test_o_shows_the_link_as_text_and_as_a_code(key: str) -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("o")
        assert type(at_table.app.screen) is InvitationScreen
        assert LINK in at_table.text
        lines = qr_lines(LINK, on_dark=False)
        assert all(line.strip() in at_table.text for line in lines)
        await at_table.press(key)
        assert [type(each) for each in at_table.app.screen_stack[-1:]] == [GatheringScreen]
        assert at_table.seat.asked == []


async def test_an_address_of_this_machine_has_no_code_for_phones() -> None:
    async with table_player(GATHERING, inviter=Inviter(server="ws://127.0.0.1:7470")) as at_table:
        assert "o link" in at_table.text
        assert "QR code" not in at_table.text
        await at_table.press("o")
        link = "http://127.0.0.1:7470/mint-otter-42"
        assert f"Only on this machine: {link}" in at_table.text
        assert "A phone cannot open this address." in at_table.text
        assert qr_lines(link, on_dark=False)[3].strip() not in at_table.text

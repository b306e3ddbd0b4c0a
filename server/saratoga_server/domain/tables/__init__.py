"""A table: where friends meet under a code and race.

Pure: transitions take a table, a command and the time, and return the next table, or the same one
if nothing changes: what a command wants may be so already, because it is a repeat. A refused
command raises `CommandRejected` and changes nothing. `fresh_seed` is 32 random bytes. In order of
reading: `state` (what a table is), `phases` (who may do what when), `records`, `lifecycle`
(settings, finish, next race and its deal, matches, hosts, closing), `countdown`, `seating`,
`timers`.
"""

from saratoga_server.domain.tables.countdown import (
    RankedTables,
    allow_ready,
    has_lost,
    lost,
    not_ready,
    ready,
    reveal,
    start,
)
from saratoga_server.domain.tables.lifecycle import (
    change_settings,
    checked_settings,
    close,
    end_race,
    finish,
    forgotten,
    hand_over,
    host_again,
    host_passed_on,
    last_board,
    next_race,
)
from saratoga_server.domain.tables.phases import BETWEEN_RACES, seated
from saratoga_server.domain.tables.records import closed_race
from saratoga_server.domain.tables.seating import (
    check_bot,
    disconnect,
    force_leave,
    join,
    kick,
    leave,
    lock,
    new_table,
    rename,
    still_here,
)
from saratoga_server.domain.tables.state import (
    CommandRejected,
    TablePhase,
    TableSeat,
    TableState,
    pack,
    public_view,
    unpack,
)
from saratoga_server.domain.tables.timers import due, elapse, is_too_long

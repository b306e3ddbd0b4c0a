"""What is sent nowhere reaches nobody, and stops nobody."""

import os

from saratoga_server.process.nowhere import send_nowhere


def test_what_is_written_is_lost_though_nobody_could_take_it() -> None:
    heard, said = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    send_nowhere(said, full)
    for stream in (said, full):
        assert os.write(stream, b"good night") == 10
        os.close(stream)
    assert os.read(heard, 1) == b""
    os.close(heard)

"""The interface of the transport to the commands, which the dispatcher implements."""

import inspect

import pytest

from saratoga_server.handlers.dispatcher import DispatchedMove, Dispatcher
from saratoga_server.transport.commands import Commands, PendingMove


@pytest.mark.parametrize(
    ("wanted", "given"), [(Commands, Dispatcher), (PendingMove, DispatchedMove)]
)
def test_the_dispatcher_takes_the_arguments_that_the_transport_passes(
    wanted: type, given: type
) -> None:
    methods = {
        name: method
        for name, method in inspect.getmembers(wanted, inspect.isfunction)
        if not name.startswith("_")
    }
    assert methods
    for name, method in methods.items():
        own = getattr(given, name)
        assert list(inspect.signature(own).parameters) == list(
            inspect.signature(method).parameters
        ), name
        assert inspect.iscoroutinefunction(own) == inspect.iscoroutinefunction(method), name

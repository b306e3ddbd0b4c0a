"""Connections: accepted, limited, read frame by frame, kept alive and closed.

A move is handled in two callbacks, one to its commit, one from there to its answer:

    connection.data_received -> frames.read_message -> command_runner.begin -> Dispatcher.begin_move
    command_runner._finish_move -> Dispatcher.finish_move -> Session.send -> connection.send

A `Gateway` whose `Dispatcher.begin_move` returns an event at once acts as an echo server.
"""

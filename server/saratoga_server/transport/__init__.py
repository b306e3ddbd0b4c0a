"""Connections: accepted, limited, read frame by frame, kept alive and closed.

A move is handled in two callbacks, one to its commit, one from there to its answer:

    connection.data_received -> frames.read_message -> command_runner.begin -> Commands.begin_move
    command_runner._finish_move -> JudgedMove.finish -> Session.send -> connection.send -> outbox.send

A `Gateway` whose `Commands.begin_move` returns an event at once acts as an echo server.
"""

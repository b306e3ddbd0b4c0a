"""Connections: accepted, limited, read frame by frame, kept alive and closed.

The way of a move, in one callback from its bytes to its commit, and in another from there to its answer:

    connection.data_received -> frames.read_message -> command_runner.begin -> Commands.begin_move
    command_runner._finish_move -> PendingMove.finish -> Session.tell -> connection.send -> outbox.send

A `Gateway` whose `Commands.begin_move` returns an event at once is an echo server.
"""

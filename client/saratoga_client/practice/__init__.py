"""Practice: games played alone on any deal, with undo, hints and ghosts."""

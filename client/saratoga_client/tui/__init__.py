"""The terminal client's screens: the only part that imports Textual."""

"""Programs that play: two strengths, marked as bots wherever their names are shown.

A bot knows what a player in its seat would know: its view, and the cards that it has seen before.
"""

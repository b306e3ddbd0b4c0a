"""Bots of three strengths, marked as bots wherever their names are shown.

A bot uses only the knowledge of a player in its seat: its view, and the cards seen before.
"""

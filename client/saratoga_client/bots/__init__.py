"""Programs that play: two strengths, shown as bots wherever their name is shown.

A bot knows what a person at its seat would know: its view, and what it has seen turned up
before. `choice` is where a bot decides; `weak` and `strong` are how; `player` sits it down at a
table; `alone` lets it play without one.
"""

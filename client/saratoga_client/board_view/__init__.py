"""Boards, texts and their layout as cells of a screen.

The modules are pure: no I/O, no clock, no toolkit. A cell has a role; the widget that shows a
`Canvas` gives each role its colour.
"""

"""Moves from a player's keys, clicks, drops and typed lines. Pure: no I/O, no clock, no screen.

    move_text                 cards, piles and moves in words, and the key of every pile
    scene                     the legal moves of a view, and why other moves are refused
    selection                 the selected cards, their highlights, and the result of an input
    keyboard, mouse           keys and the key line; clicks and drops
    typed_moves               typed lines
    find                      a search for cards, and where they lie

Only `saratoga_rules` decides which moves are legal.
"""

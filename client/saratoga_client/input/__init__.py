"""Moves from a player's keys, clicks, drops and typed lines. Pure: no I/O, no clock, no screen.

    move_text                 cards, piles and moves in words
    pile_keys                 the key of every pile
    scene                     the legal moves of a view, and why other moves are refused
    selection                 the selected cards, and the result of an input
    keyboard, mouse           keys; clicks and drops
    typed_moves               typed lines
    key_hints                 the key line
    card_query, card_finder   a search for cards, and where they lie
    prediction                the view after a move that turns up no hidden card

Only `saratoga_rules` decides which moves are legal.
"""

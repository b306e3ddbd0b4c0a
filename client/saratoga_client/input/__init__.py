"""What a player's keys, clicks, drops and typed words come to. Pure: no I/O, no clock, no screen.

    words                   cards, piles and moves in people's words
    keys                    the key of every pile
    scene                   what may be played now, and why the rest may not
    holding                 what is in hand between two keys, and what a key comes to
    hand, pointing, typed   keys; clicks and drops; lines
    guide, find             the key line; where cards lie
    foresight               the view after a move that turns up nothing hidden

Only the judge says what is legal; everything here asks it.
"""

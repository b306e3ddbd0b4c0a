"""The whole client as lines of text: for ears, for pipes, and for terminals that cannot redraw.

One event a line, typed orders, no colours, nothing that moves. What stands before a line's first
colon says what kind of line it is and does not change between versions; FORM.md lists the kinds.

    reading, voice          lines in and out
    tongue                  how cards are said
    position, moving,       what lies on the table, what a move changes, where a card is:
    whereabouts             pure
    orders                  what may be typed
    saying, pacing          an evening's events as lines, and how often standings are said
    tableside, lobby,       the client at a table, before one, and by oneself
    practising, beside
"""

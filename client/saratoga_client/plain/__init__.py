"""The whole client as lines of text: for ears, for pipes, and for terminals that cannot redraw.

One event a line, typed orders, no colours, nothing that moves. What stands before a line's first
colon says what kind of line it is and does not change between versions; FORM.md lists the kinds.

    reading, voice          lines in and out
    talk                    a person, or a script, at the other end of them
    tongue                  how cards are said
    orders, understanding   what may be typed: orders, and moves
    position, moving,       what lies on the table, what a move changes, where a card is,
    whereabouts, answers    what is said to whoever asks: pure
    saying, pacing          an evening's events as lines, and how often standings are said
    lobby, tableside        the client before a table, and at one
    deeds, settings         what the orders at a table do
    practising, replaying   practice, and a finished race looked at again
"""

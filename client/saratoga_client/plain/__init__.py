"""The whole client as lines of text: for screen readers, pipes, and terminals that cannot redraw.

Commands are typed or piped in. Every event is one line without colours. The words before a line's
first colon are the kind of the line. FORM.md lists the kinds, which do not change between versions.
"""

"""The whole client as lines of text: for screen readers, pipes, and terminals that cannot redraw.

Commands are typed or piped in; every event is one line without colours. The words before a line's
first colon are its kind; kinds do not change between versions, and FORM.md lists them.
"""

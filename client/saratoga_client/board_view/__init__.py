"""A position, and what goes on around it, as cells of a screen.

Everything here is pure: it does no I/O, reads no clock, and knows no toolkit. What cells look like
in the end (colours, attributes) is decided by whoever shows a `Canvas`; here they have roles.
"""

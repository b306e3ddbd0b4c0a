"""Rule words: the values of which a `Game` is composed."""

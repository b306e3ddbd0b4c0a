"""Rule words: the values of which a game's page is made."""

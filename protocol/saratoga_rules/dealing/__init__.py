"""The deal: commitment, deal key, shuffle, opening position."""

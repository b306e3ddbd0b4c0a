"""The games: cards, positions, moves, the judge, the deal and the record. Standard library only."""

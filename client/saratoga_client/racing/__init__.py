"""A table as its player lives it: the evening, the driver of a seat, the panel beside the board."""

"""Whether a board is stuck: the exact test and its searches."""

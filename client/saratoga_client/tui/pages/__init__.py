"""The contents of all screens except the board, as canvases or Rich renderables. Pure."""

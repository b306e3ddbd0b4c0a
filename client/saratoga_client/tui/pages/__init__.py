"""What stands on the screens beside the board, drawn as canvases: pure, and the same at every size."""

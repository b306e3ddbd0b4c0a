"""Where connections come in: bounded, asked who they are, read frame by frame, seen out."""

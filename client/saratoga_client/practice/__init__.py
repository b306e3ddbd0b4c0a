"""Patience by oneself: any deal again and again, with undo, hints and one's own ghost. All pure."""

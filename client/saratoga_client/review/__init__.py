"""The review of a finished race: its boards, counts over time, and their differences. Pure."""

"""The review of a finished race: boards, banked cards over time, and differences. Pure."""

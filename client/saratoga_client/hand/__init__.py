"""What a player's keys, clicks, drops and typed words come to. Pure: no I/O, no clock, no screen."""

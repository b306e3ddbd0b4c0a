"""Tables, boards, results, names and periods. Pure: time and random bytes are arguments."""

"""A house of one process or several: started, told how things stand, stopped, replaced."""

"""The screens of the terminal client; no other package imports Textual."""

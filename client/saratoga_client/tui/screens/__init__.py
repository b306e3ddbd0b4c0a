"""The screens, one for every state of affairs."""

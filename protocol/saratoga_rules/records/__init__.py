"""Records of finished races: text form, replay, order of finish, verification."""

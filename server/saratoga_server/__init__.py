"""The server: tables, races, results and leaderboards, kept in a Redis or Valkey store."""

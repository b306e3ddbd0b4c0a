"""Rate limits of this process: per connection, per player and per address."""

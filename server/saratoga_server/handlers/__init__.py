"""The handlers of commands, and the dispatcher that passes commands to them."""

"""One command, `outlast`."""

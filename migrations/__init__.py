"""State migrations: what stored state means, moved from release to release."""

"""Versioned shapes of everything that is persisted or sent between parts."""

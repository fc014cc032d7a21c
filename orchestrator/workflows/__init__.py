"""Pure decisions: what follows from an event."""

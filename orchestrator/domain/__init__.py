"""Words, transition tables and pure rules; standard library only."""

"""The second way back: pure verdicts and small duties that settle what was lost."""

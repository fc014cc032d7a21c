"""The booking desk of a mountain club's huts."""

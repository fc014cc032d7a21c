"""One transaction each: what moves a run."""

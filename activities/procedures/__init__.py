"""From a report in plain words to a procedure that a browser can play."""

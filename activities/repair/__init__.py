"""The offline repairer: it searches for small edits that make the failing procedure pass."""

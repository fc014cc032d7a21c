"""The seam to models: typed requests, typed results, classified failures."""

"""Figures of results. matplotlib is imported when the first one is drawn."""

"""Every defect that was found, as a case that builds itself: `check(folder)` of each module here.

`check` raises where the defect is back: an `AssertionError` that says so, or whatever the library throws.
"""

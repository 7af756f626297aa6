"""Slow, obvious versions of what the library does fast, and small generators that return the truth."""

"""Exercises that are not yet in their notebook's package."""

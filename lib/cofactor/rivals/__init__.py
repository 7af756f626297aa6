"""Rivals: what the methods of the papers are compared with, by line. A reader of these methods needs none of it."""

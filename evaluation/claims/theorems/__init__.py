"""Theorems and propositions of the papers: a file for each paper."""

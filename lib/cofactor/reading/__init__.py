"""Readers: files, frames and exports as people and tools write them, as the data of the four problems.

Every rule is applied to the distinct values of a column, and to rows only where one has to be named.
"""

"""What one does with data: a module a verb, from a path, a frame or an array to a result with tables and notes."""

"""The verbs, one module each: they turn a path, a DataFrame or an array into a result with tables and notes."""

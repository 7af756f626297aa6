"""The methods that the papers compare theirs with, by problem."""

"""What the papers compare their methods with, by problem."""

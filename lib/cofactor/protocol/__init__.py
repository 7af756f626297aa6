"""What a method of any line is told, may answer and must keep to, wherever it comes from."""

"""What is done with the joint distribution of a table: gaps filled or drawn, a column predicted, a fit kept."""

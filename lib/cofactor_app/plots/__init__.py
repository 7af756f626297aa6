"""Plots for reports and notebooks."""

"""Tests of the course."""


def moved(live, **values):
    """What a live figure says once its controls have these values."""
    for name, value in values.items():
        live.controls[name].value = value
    return live.text

"""One item for all cases of a test: fewer items to collect and to report, and every failure still names its case."""

import functools
import inspect

import pytest


def each(names, cases):
    """Run a test for every case, one after the other, as one item; those that fail are reported together.

    >>> @each("base, power", [(2, 3), (3, 2)])
    ... def test_powers_are_larger(base, power):
    ...     assert base**power > base
    >>> test_powers_are_larger()
    """
    names, cases = [name.strip() for name in names.split(",")], list(cases)

    def decorate(test):
        @functools.wraps(test)
        def run(**fixtures):
            failures = []
            for case in cases:
                values = dict(zip(names, [case] if len(names) == 1 else case, strict=True))
                try:
                    test(**fixtures | values)
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note("case: " + ", ".join(f"{name}={value!r}" for name, value in values.items()))
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases failed", failures)

        given = inspect.signature(test).parameters.values()
        run.__signature__ = inspect.Signature([one for one in given if one.name not in names])
        return run

    return decorate

"""Run first by the kernels of tests and of `kit.py notebooks`, by way of PYTHONSTARTUP.

Figures and panels then store their fingerprints beside their pictures. Kernels of learners do not.
"""

from tests.fingerprint import store_in

if "get_ipython" in globals():  # IPython runs this file; those who only read its documentation do not
    store_in(get_ipython())  # noqa: F821
del store_in

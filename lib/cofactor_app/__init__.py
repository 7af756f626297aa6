"""The command line, HTML reports, plots and the benchmark; `cofactor` does not depend on them."""

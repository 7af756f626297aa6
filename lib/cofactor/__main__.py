"""``python -m cofactor`` is the command line."""

from cofactor.cli import main

raise SystemExit(main())

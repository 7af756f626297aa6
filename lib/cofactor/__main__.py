"""``python -m cofactor`` is the command line."""

from cofactor_app.cli import main

raise SystemExit(main())

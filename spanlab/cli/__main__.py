"""`python -m spanlab.cli` is the command `spanlab`."""

import sys

from spanlab.cli import main

sys.exit(main())

"""`python -m retention` is the `retain` command."""

import sys

from retention.command import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m soakproof`: the same as the command `soakproof`."""

import sys

from soakproof.cli import main

if __name__ == "__main__":
    sys.exit(main())

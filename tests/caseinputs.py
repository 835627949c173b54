"""Where the inputs of the public fault cases are. `cases/README.md` says what each shows."""

from pathlib import Path

INPUTS = Path(__file__).parent / "cases" / "inputs"

"""What was decided of each candidate of a release, in a file that people read, diff and keep in git.

    decisions.toml   an [[entry]] for each time that something was decided; of a candidate the last one counts

Entries are added at the end and never changed, so the history stays and a diff shows what is new. Comments of
a person's own stay, too. TOML, since plans and policies are that already.
"""

from soakproof.decisions.entries import (
    DECISIONS,
    NAME,
    Candidate,
    Decision,
    Entry,
    RunTold,
    VerdictTold,
    against,
    candidates,
    is_disputed,
)
from soakproof.decisions.file import FILE, add_entry, read_entries

__all__ = [
    "DECISIONS",
    "FILE",
    "NAME",
    "Candidate",
    "Decision",
    "Entry",
    "RunTold",
    "VerdictTold",
    "add_entry",
    "against",
    "candidates",
    "is_disputed",
    "read_entries",
]

"""What was tested, as named fields: what must match before two runs are compared, and what a release changes.

Read from run.json's target, plan and host, tolerantly: a field that cannot be told is absent, never empty.
"""

from soakproof.judge.identity.comparing import Comparison, compare, identity, provenance, same_run
from soakproof.judge.identity.fields import FIELDS, Field
from soakproof.judge.identity.readers import given_options

__all__ = ["FIELDS", "Comparison", "Field", "compare", "given_options", "identity", "provenance", "same_run"]

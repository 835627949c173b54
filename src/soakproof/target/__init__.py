"""What is being tested: told apart, asked for its identity, and refused clearly when it will not do."""

from soakproof.target.address import is_local, split_host
from soakproof.target.credentials import KEY_VARIABLES, Credentials
from soakproof.target.examination import examine
from soakproof.target.identity import Target
from soakproof.target.launchfiles import files_of

__all__ = ["KEY_VARIABLES", "Credentials", "Target", "examine", "files_of", "is_local", "split_host"]

"""A run's records as columns: a day of them fits, and is asked as arrays. Records are read anew when they
are asked for. No I/O.
"""

from soakproof.columns.gathering import Gathering, Shared
from soakproof.columns.rows import Rows, Source
from soakproof.columns.table import LINE, Array, Floats, R, Table, joined

__all__ = ["LINE", "Array", "Floats", "Gathering", "R", "Rows", "Shared", "Source", "Table", "joined"]

"""A run's samples as columns, a source at a time: a day of them fits, and is asked as arrays. No I/O."""

from soakproof.samples.column import Column
from soakproof.samples.gathering import Gathering
from soakproof.samples.readings import Readings, no_readings, of_samples, one_after_the_other

__all__ = ["Column", "Gathering", "Readings", "no_readings", "of_samples", "one_after_the_other"]

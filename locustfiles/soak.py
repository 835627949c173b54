"""The founding mix, for 30 minutes unless told otherwise.

locust -f locustfiles/soak.py --headless [-t 30m] [--host http://localhost:13305 --model NAME]
"""

from soakproof.load import soak

SoakUser = soak("soak")

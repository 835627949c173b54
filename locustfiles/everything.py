"""Every kind of traffic there is, for 15 minutes unless told otherwise.

locust -f locustfiles/everything.py --headless [-t 5m] [--host http://localhost:13305 --model NAME]
"""

from soakproof.load import soak

SoakUser = soak("everything")

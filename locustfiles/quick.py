"""Every kind of traffic in two minutes.

locust -f locustfiles/quick.py --headless [--host http://localhost:13305 --model NAME]
"""

from soakproof.load import soak

SoakUser = soak("quick")

"""Every kind of traffic in two minutes: locust -f locustfiles/quick.py --headless [--host URL --model NAME]"""

from soakproof.load import soak

SoakUser = soak("quick")

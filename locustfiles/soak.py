"""The founding mix for 30 minutes: locust -f locustfiles/soak.py --headless [-t 30m] [--host URL --model NAME]"""

from soakproof.load import soak

SoakUser = soak("soak")

"""What every room's tests may use."""

from hypothesis import settings

pytest_plugins = ["fixtures_testbed"]

settings.register_profile("ours", deadline=None)  # a busy machine is slow at times: that is no failure
settings.load_profile("ours")

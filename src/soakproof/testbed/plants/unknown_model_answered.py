"""A model that is not there is answered by the one that is."""

from soakproof.testbed.plant import Fires, Plant


class UnknownModelAnswered(Plant):
    """Whatever model is asked for, the loaded one answers, with status 200."""

    any_model = True
    modelled_on = "https://github.com/ddalcu/mlx-serve/issues/257"
    plan = """
[mix]
refusals = 1
"""
    fires = (Fires("functional: refusal.model"),)

"""Locust's side of a soak: one user class, one tagged task for each kind of the plan, drawn from the deck."""

from typing import TYPE_CHECKING, Any, ClassVar

from locust import TaskSet, User, tag
from locust.exception import StopUser

from soakproof.plan import Plan

if TYPE_CHECKING:
    from soakproof.load.session import Session


class Cards(TaskSet):
    """Draws its next task from the run's deck, among the kinds that --tags left."""

    def get_next_task(self) -> Any:
        session = _going_on()
        by_name = {task.__name__: task for task in self.tasks}
        while True:
            task = by_name.get(session.deck.draw().name)
            if task is not None:
                return task


class SoakUser(User):
    """A client that goes from one iteration to the next."""

    session: "ClassVar[Session | None]" = None
    tasks = [Cards]  # noqa: RUF012

    def wait_time(self) -> float:
        """Seconds until the next iteration, as the plan says."""
        return 0.0 if self.session is None else float(self.session.plan.think_time)


def _going_on() -> "Session":
    """The session, as long as its users shall go on; ends the user otherwise."""
    session = SoakUser.session
    if session is None or session.stopping or session.trouble:
        raise StopUser
    return session


def make_tasks(plan: Plan) -> None:
    """One task for each kind, tagged with its name, as often as the plan's mix has it: Locust shows ratios.

    The run's own plan has its options.
    """
    Cards.tasks = [task for kind in plan.kinds for task in [_task(kind.name)] * kind.count]


def _task(name: str) -> Any:
    @tag(name)
    def play(cards: Cards) -> None:
        session = _going_on()
        session.iterate(session.plan.kind(name))

    play.__name__ = name
    return play

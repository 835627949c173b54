"""What a run says while it runs."""

from collections import Counter

from soakproof.load.transport import Sweeper


def say(text: str) -> None:
    """A line to the user, at once."""
    print(text, flush=True)


def progress_line(elapsed_s: float, counts: Counter[str], sweeper: Sweeper) -> str:
    """How the run stands, in one line."""
    minutes, seconds = divmod(int(elapsed_s), 60)
    oldest = sweeper.oldest_s()
    flying = f", {len(sweeper.flights)} in flight (oldest {oldest:.0f} s)" if oldest is not None else ""
    return (
        f"[{minutes:02d}:{seconds:02d}] {counts['iterations']} iterations, "
        f"{counts['ok']} exchanges ok, {counts['fail']} failed{flying}; "
        f"checks: {counts['check pass']} passed, {counts['check fail']} failed, "
        f"{counts['check unknown']} unknown"
    )

"""`soakproof decide add` and `set`: an entry out of what was given, and whether it needs a reason."""

import getpass
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from soakproof.cli.decided import file_option, found_in, told
from soakproof.cli.options import filled, runs_option
from soakproof.cli.output import say
from soakproof.decisions import DECISIONS, NAME, Candidate, Decision, Entry, add_entry, against, candidates
from soakproof.errors import EXIT_OK, UsageError
from soakproof.judge.telling import counted
from soakproof.plain import plain

F = TypeVar("F", bound=Callable[..., Any])
_LONGEST = 2000  # characters of what changed, or of a reason


def _entry_options(function: F) -> F:
    """--run, --reason, --release and --who."""
    for option in (
        click.option("--who", metavar="NAME", callback=filled, help="Who decides; the user at hand."),
        click.option("--release", metavar="NAME", callback=filled, help="The release that it is for."),
        click.option("--reason", metavar="TEXT", callback=filled, help="Why it is decided so."),
        click.option(
            "--run",
            "named",
            multiple=True,
            metavar="RUN",
            help="A sealed run that the decision rests on.  [repeatable]",
        ),
    ):
        function = option(function)
    return function


@click.command(short_help="A new candidate.")
@click.argument("name")
@click.option("--changed", required=True, metavar="TEXT", callback=filled, help="What is new in it.")
@click.option(
    "--decision", type=click.Choice(DECISIONS), default="pending", show_default=True, help="What is decided."
)
@_entry_options
@file_option
@runs_option
def add(
    name: str,
    changed: str,
    decision: Decision,
    named: tuple[str, ...],
    reason: str | None,
    release: str | None,
    who: str | None,
    file: Path,
    runs: Path,
) -> int:
    """A new candidate: what changed, the runs that it was soaked in, and what was decided, if that is known.

    Each RUN is referred to by its seal, with the verdicts that it has now: a later change or loss is told. A
    reason is needed, but for what is pending, and for what is promoted with every verdict PASS.

    \b
    Examples:
      soakproof decide add lazy-reads --changed "tensors read lazily" --run RUN
      soakproof decide add rocm --changed "ROCm build" --decision failed \\
          --reason "SVM mapping failed, exceeds resident system memory limit"
    """
    entry = _entry(name, decision, named, runs, changed=changed, reason=reason, release=release, who=who)

    def make(there: Sequence[Entry]) -> Entry:
        if any(one.candidate == name for one in there):
            hint = f"decide anew: soakproof decide set {name}; or choose another name"
            raise UsageError(f"there is a candidate {name!r} already", hint)
        _refuse_unreasoned(Candidate((entry,)), None)
        return entry

    return _added(file, make)


@click.command("set", short_help="Decide anew, add a run, amend what is told.")
@click.argument("name")
@click.option("--decision", type=click.Choice(DECISIONS), help="What is decided now; else as it was.")
@click.option("--changed", metavar="TEXT", callback=filled, help="What is new in it, in better words.")
@_entry_options
@file_option
@runs_option
def set_(
    name: str,
    decision: Decision | None,
    changed: str | None,
    named: tuple[str, ...],
    reason: str | None,
    release: str | None,
    who: str | None,
    file: Path,
    runs: Path,
) -> int:
    """Decide anew of a candidate, add a run to it, or amend what is told. What was told before stays in the
    file and is shown as history; a run that was told before is told anew, with the verdicts that it has now.

    \b
    Examples:
      soakproof decide set lazy-reads --run RUN
      soakproof decide set lazy-reads --decision promoted --reason "passed after the repair"
    """
    if not (decision or changed or named or reason or release):
        raise UsageError("nothing to set", "give one of --decision, --changed, --run, --reason, --release")
    made = _entry(
        name,
        decision or "pending",
        named,
        runs,
        changed=changed or "",
        reason=reason,
        release=release,
        who=who,
    )

    def make(there: Sequence[Entry]) -> Entry:
        before = found_in(candidates(there), name, file)
        entry = replace(made, decision=decision or before.last.decision)
        _refuse_unreasoned(Candidate((*before.entries, entry)), before)
        return entry

    return _added(file, make)


def _added(file: Path, make: Callable[[Sequence[Entry]], Entry]) -> int:
    entry = add_entry(file, make)
    with_runs = f", with {counted(len(entry.run), 'run')}" if entry.run else ""
    say(f"{entry.candidate}: {entry.decision}{with_runs} ({file})")
    return EXIT_OK


def _entry(
    name: str,
    decision: Decision,
    named: Sequence[str],
    runs: Path,
    *,
    changed: str,
    reason: str | None,
    release: str | None,
    who: str | None,
) -> Entry:
    for what, given in (("a candidate's name", name), ("--release", release)):
        if given is not None and not NAME.fullmatch(given):
            form = "up to 60 letters, digits, dots, dashes and underlines"
            raise UsageError(f"{what}: expected {form}, found {plain(given, 80)!r}")
    return Entry(
        candidate=name,
        at=datetime.now(UTC).replace(microsecond=0),
        who=_line("--who", who if who is not None else _user()),
        decision=decision,
        changed=_line("--changed", changed),
        reason=_line("--reason", reason or ""),
        release=release or "",
        run=tuple(told(runs, one) for one in dict.fromkeys(named)),
    )


def _line(option: str, text: str) -> str:
    """On one line, and harmless to print, as it is written."""
    if len(text) > _LONGEST:
        raise UsageError(f"{option}: expected at most {_LONGEST:,} characters, found {len(text):,}", "cut it")
    return plain(text, 6 * _LONGEST).strip()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise UsageError("--who: this system does not tell who you are", "give it: --who NAME") from None


def _refuse_unreasoned(now: Candidate, before: Candidate | None) -> None:
    """Raises UsageError for a decision that needs a reason and has none."""
    last, disputed = now.last, against(now.last.decision, now.runs)
    if last.reason or last.decision == "pending":
        return
    is_as_before = before is not None and before.last.decision == last.decision
    if before is not None and is_as_before and set(disputed) <= set(against(last.decision, before.runs)):
        return
    if disputed:
        why = plain("; ".join(disputed), 500)
        told = f"against the verdicts: {why}" if now.runs else f"without a reason, and {why}"
        raise UsageError(f"{last.decision} is {told}", 'say why: --reason "…"')
    if last.decision != "promoted":
        raise UsageError(f"{last.decision}: expected a reason, found none", 'say why: --reason "…"')

"""The forms in which `soakproof report --format` hands a report out, and where each of them goes."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from soakproof.cli.output import say, say_commands
from soakproof.errors import RecorderError, UsageError, words
from soakproof.judge.finding import Verdict
from soakproof.plain import listed
from soakproof.report import (
    FIGURES,
    Page,
    annotations,
    pictures,
    put,
    render_json,
    render_junit,
    step_summary,
    to_html,
    to_markdown,
)
from soakproof.report.github import SUMMARY_LIMIT
from soakproof.run import write_atomic

NAMES = {
    "md": "report.md",
    "html": "report.html",
    "json": "verdict.json",
    "junit": "junit.xml",
    "github": "summary.md",
}
PICTURES = ("svg", "png")
STDOUT = "-"
SUMMARY = "GITHUB_STEP_SUMMARY"
_NAMED = 3  # files that an error names


def hand_out(
    forms: Sequence[str], to: str | None, entry: Path, verdict: Verdict, page: Callable[[], Page]
) -> None:
    """Print or write a verdict in these forms; ``page`` builds what most of them show, once one needs it.

    Raises UsageError where they cannot go, before anything is written, and RecorderError where that fails.
    """
    if to is None or to == STDOUT:
        _alone(forms, to)
        if forms[0] in PICTURES:
            _into(entry, pictures(page(), forms[0]))
        elif forms[0] == "github":
            _into_summary(to_markdown(page(), figures=""), os.environ.get(SUMMARY) if to is None else None)
        else:
            say_commands(_text(forms[0], verdict, page).removesuffix("\n"))
    elif len(forms) > 1 or forms[0] in PICTURES or to.endswith(("/", os.sep)) or Path(to).is_dir():
        files = {name: data for form in forms for name, data in _files(form, verdict, page).items()}
        _folder(Path(to))
        _write({Path(to) / name: data for name, data in files.items()})
    else:
        _write({Path(to): _text(forms[0], verdict, page).encode()})
    if "github" in forms:
        say_commands("\n".join(annotations(verdict)))


def _alone(forms: Sequence[str], to: str | None) -> None:
    if len(forms) > 1:
        raise UsageError(
            f"--format: {', '.join(forms)} are several files, and there is no folder for them",
            "name one: -o DIR",
        )
    if forms[0] in PICTURES and to == STDOUT:
        raise UsageError(
            f"--format {forms[0]} makes several files, which - cannot take", "name a folder: -o DIR"
        )


def _text(form: str, verdict: Verdict, page: Callable[[], Page]) -> str:
    match form:
        case "json":
            return render_json(verdict)
        case "junit":
            return render_junit(verdict)
        case "html":
            return to_html(page())
        case "github":
            return step_summary(to_markdown(page(), figures=""))
    return to_markdown(page(), figures="")


def _files(form: str, verdict: Verdict, page: Callable[[], Page]) -> dict[str, bytes]:
    if form in PICTURES:
        return pictures(page(), form)
    return {NAMES[form]: _text(form, verdict, page).encode()}


def _into(entry: Path, files: Mapping[str, bytes]) -> None:
    """Put figures beside the entry's reports, where its seal covers them."""
    put(entry, {f"{FIGURES}/{name}": data for name, data in files.items()})
    for name in files:
        say(f"  {entry / FIGURES / name}")


def _into_summary(text: str, name: str | None) -> None:
    """Add to the file that is the summary of the job's step; where there is none, print it."""
    if not name:
        say_commands(step_summary(text).removesuffix("\n"))
        return
    path = Path(name)
    try:
        taken = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write(step_summary(text, SUMMARY_LIMIT - taken))
    except OSError as error:
        raise RecorderError(f"cannot write {path}, which {SUMMARY} names: {words(error)}") from error


def _folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"-o {path}: expected a folder, or the name of a new one: {words(error)}", "name another: -o DIR"
        ) from error


def _write(files: Mapping[Path, bytes]) -> None:
    """Write whole files where none of them is yet."""
    there = [str(path) for path in files if path.exists() or path.is_symlink()]
    if there:
        raise UsageError(
            f"already there: {listed(there, _NAMED, limit=500)}; nothing was written",
            "choose another name or folder, or remove it first",
        )
    for path, data in files.items():
        if not path.parent.is_dir():
            raise UsageError(f"-o {path}: there is no folder {path.parent}", "make it first, or name another")
        write_atomic(path, data)
        say(f"  {path}")

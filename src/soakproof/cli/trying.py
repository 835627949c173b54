"""`soakproof try`: one scenario, a few times, with everything in sight. Loads trio and httpx."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from soakproof.cli.options import FilledPath, filled, setting, target_options
from soakproof.cli.output import Hint, say, width, working
from soakproof.errors import UsageError
from soakproof.plain import described, model_name, plain, server_name
from soakproof.tables import paragraph
from soakproof.units import written

if TYPE_CHECKING:
    from soakproof.catalog import Catalog
    from soakproof.context import Surroundings
    from soakproof.plan import Bounds, Kind
    from soakproof.target import Credentials, Target

_HANG = " " * 10  # below what is told of target and scenario


@click.command("try", short_help="Carry out one scenario a few times, with everything in sight.")
@click.argument("scenario", metavar="SCENARIO")
@target_options
@click.option(
    "--plan",
    metavar="NAME|FILE",
    callback=filled,
    help="Take the kind SCENARIO, its options and bounds from a plan.",
)
@click.option(
    "-n", "--times", type=click.IntRange(1, 10_000), default=3, show_default=True, help="So many iterations."
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed asks the same again.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="OPTION=VALUE",
    help="An option of the scenario.  [repeatable]",
)
@click.option("--full", is_flag=True, help="Show prompts and answers whole.")
@click.option(
    "--model-file",
    type=FilledPath(path_type=Path),
    metavar="FILE.gguf",
    help="Without --host: another model for the embedded testbed.",
)
def try_(
    scenario: str,
    host: str | None,
    model: str | None,
    api_key: str | None,
    plan: str | None,
    times: int,
    seed: int,
    settings: tuple[str, ...],
    full: bool,
    model_file: Path | None,
) -> int:
    """Carry out one scenario a few times and show every request, answer and check as they come: does this
    scenario fit this model? Without --host it is tried on the embedded testbed.

    SCENARIO is a name (`soakproof plans` lists them), a file, or with --plan the name of a kind of that plan.

    \b
    Examples:
      soakproof try isolation
      soakproof try structured_json -n 10 --host http://localhost:13305
      soakproof try ./scenarios/mine.py --set words=20 --full
      soakproof try long_prose --plan soak --set "prompt=2400 tokens"

    Exit codes: 0 every check passed, 1 some failed, 2 nothing failed and something could not be seen,
    3 could not be carried out, 64 wrong usage.
    """
    from soakproof.catalog import Catalog
    from soakproof.columns import Table  # noqa: F401  # metrics need it: not to be loaded amidst an answer
    from soakproof.gates.summary import exit_code, summary
    from soakproof.gates.telling import Terminal
    from soakproof.gates.trial import Trial, carry_out
    from soakproof.target import Credentials

    catalog = Catalog()
    kind, bounds = chosen_kind(catalog, scenario, plan, settings)
    credentials = Credentials.find(api_key)
    with _target(catalog, host, model, credentials, model_file) as (target, around):
        trial = Trial(
            kind=kind,
            target=target,
            around=around,
            bounds=bounds,
            credentials=credentials if host else Credentials(),
            seed=seed,
            times=times,
            on_probe=target.identity.get("testbed") is True and _is_probe(target),
        )
        _tell_beginning(trial.kind, target)
        book = carry_out(trial, Terminal(say, Hint(), times=times, width=width(), full=full))
    say()
    for line in summary(trial, book, width()):
        say(line)
    return exit_code(book)


def chosen_kind(
    catalog: "Catalog", name: str, plan: str | None, settings: tuple[str, ...]
) -> "tuple[Kind, Bounds]":
    """The scenario with its options, and the bounds that its requests are held to."""
    from soakproof.catalog import shown
    from soakproof.plan import Bounds, Kind, load_plan, make_scenario
    from soakproof.settings import read_toml

    options = dict(setting(text) for text in settings)
    if plan is None:
        stem, file = Path(name).stem, shown(_file(catalog, name))
        catalog.scenario(name)  # a fault of the file is told as that, before its options are looked at
        key = "--set" if options else file
        return Kind(stem, make_scenario(catalog, stem, {"scenario": name, **options}, file, key), 1), Bounds()
    whole = load_plan(catalog, plan)
    names = [kind.name for kind in whole.kinds]
    if name not in names:
        raise UsageError(f"the plan {whole.name} has no kind {name!r}", f"it has: {', '.join(names)}")
    path = catalog.plan(plan)
    own = read_toml(path).get("kind", {}).get(name, {})
    key = "--set" if options else ""
    return Kind(name, make_scenario(catalog, name, {**own, **options}, shown(path), key), 1), whole.bounds


def _file(catalog: "Catalog", name: str) -> Path:
    """The file of a scenario's name, or the one that it is a path of."""
    try:
        return catalog.find("scenario", "scenarios", ".py", name)
    except UsageError as error:
        raise UsageError(error.problem, f"{error.hint}; a kind that only a plan names needs --plan") from None


@contextlib.contextmanager
def _target(
    catalog: "Catalog",
    host: str | None,
    model: str | None,
    credentials: "Credentials",
    model_file: Path | None,
) -> "Iterator[tuple[Target, Surroundings]]":
    """The server that was named, or the embedded testbed for as long as the block lasts."""
    from soakproof.target import Credentials, examine, split_host
    from soakproof.testbed.launch import Testbed

    with contextlib.ExitStack() as stack:
        if host:
            base, _ = split_host(host)  # refused before it is printed: a key may be in it
            with working(f"asking {base} what it is; a model that is not loaded is being loaded"):
                target = examine(host, model, credentials)
        else:
            say("no --host was given: starting the embedded testbed")
            logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soakproof-try-")))
            with working("starting the testbed"):
                pair = stack.enter_context(Testbed.start(logs, model=model_file))
                examined = examine(pair.url, model or "llm", Credentials())
            target = dataclasses.replace(examined, cache_tokens=pair.cache_tokens)
        yield target, target.surroundings(catalog.corpora())


def _is_probe(target: "Target") -> bool:
    """Whether it serves the testbed's own very small model."""
    from soakproof.testbed.data import PROBE_MODEL

    return PurePath(str(target.identity.get("model_path"))).name == PROBE_MODEL.name


def _tell_beginning(kind: "Kind", target: "Target") -> None:
    """What is tried, and on what."""
    server = server_name(target.kind)
    version = plain(target.version or "of unknown version", 60)
    model = f"{plain(model_name(target.served_model), 80)}, {target.room}"
    lines = [f"target    {server} {version} at {target.base_url}: {model}"]
    lines += [f"{_HANG}note: {plain(remark, 300)}" for remark in target.remarks]
    about = described(type(kind.scenario)) or "(does not say what it is)"
    lines.append(f"scenario  {kind.name}: {plain(about, 200)}")
    fields = dataclasses.fields(kind.scenario)
    options = ", ".join(f"{f.name} = {written(getattr(kind.scenario, f.name))}" for f in fields)
    lines.append(f"{_HANG}options: {plain(options, 400) or 'none'}")
    for line in lines:
        say(paragraph(line, width(), _HANG))

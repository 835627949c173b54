"""Links lead somewhere, examples are well formed, and every command and option that is told exists."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import click
import pytest
from pages import DOCS, PAGES, ROOT, SHELL, Block, all_blocks, anchors, blocks, commands, links, spans

from soakproof.catalog import Catalog
from soakproof.cli.app import soakproof
from soakproof.plan import load_plan
from soakproof.policy import load_policy

OTHERS = {  # not ours to check
    *("cd", "cmp", "curl", "git", "grep", "kill", "mkdir", "python3", "source", "tar", "zstd"),
}
LIMIT = 300_000  # bytes of a picture


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*")), ids=lambda p: p.name)
def test_pictures_are_shown_and_light(picture: Path) -> None:
    assert picture.stat().st_size < LIMIT
    assert any(picture.name in link for page in PAGES for link in links(page))


@pytest.mark.parametrize("block", [b for b in all_blocks() if b.language in ("python", "toml", "json")])
def test_examples_can_be_read(block: Block) -> None:
    {"python": ast.parse, "toml": tomllib.loads, "json": json.loads}[block.language](block.text)


def test_parts_of_plans_and_policies_are_taken(tmp_path: Path) -> None:
    """Each part with the least that makes it whole."""
    catalog = Catalog(tmp_path)
    taken = 0
    for block in all_blocks():
        part = tmp_path / f"part-{taken}.toml"
        if block.language != "toml" or block.file or block.page.name == "reference.md":
            continue
        if block.text.startswith("[kind."):
            kind = block.text.split("]")[0].removeprefix("[kind.")
            part.write_text(f"[mix]\n{kind} = 1\n{block.text}")
            load_plan(catalog, str(part))
        elif block.text.startswith("[guard]"):
            part.write_text(f"[mix]\nstructured_json = 1\n{block.text}")
            load_plan(catalog, str(part))
        else:
            part.write_text(f"[adjudicator.functional]\n[adjudicator.throughput]\n{block.text}")
            load_policy(catalog, str(part))
        taken += 1
    assert taken >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_have_the_options_that_are_told(page: Path) -> None:
    told = [c for block in blocks(page) if block.language in SHELL for c in block.commands]
    for span in spans(page):
        if re.match(r"(soakproof|locust|pip install|pytest|python docs) ", span):
            told += commands(span)
    for command in told:
        check(command)


def check(command: list[str]) -> None:
    """Raises AssertionError for a command that does not exist, or has no such option."""
    program, *arguments = command
    if program == "soakproof":
        check_soakproof(arguments)
    elif program == "locust":
        unknown = {a.partition("=")[0] for a in arguments if re.match("--?[a-z]", a)} - locust_options()
        assert not unknown, f"{command}: locust has no {unknown}"
        files = [file for flag, file in pairwise(arguments) if flag == "-f"]
        assert all((ROOT / file).is_file() for file in files), command
    elif program == "pip":
        check_pip(arguments)
    elif program == "python":
        assert (ROOT / arguments[0]).exists() or arguments[0].startswith("-"), command
    else:
        assert program in OTHERS | {"pytest"}, f"{command}: is {program} known here?"


def check_soakproof(arguments: list[str]) -> None:
    """Reads the arguments as the command would, without carrying anything out."""
    if not arguments or arguments[0].isupper():  # COMMAND
        return
    name, *rest = arguments
    if name.startswith("-"):
        assert name in {o for p in soakproof.params for o in p.opts} | {"--help"}, name
        return
    command = soakproof.commands.get(name)
    assert command is not None, f"soakproof has no command {name}"
    if isinstance(command, click.Group):  # such as `soakproof watch` alone, or with a command of its own
        command = command.commands[rest.pop(0)] if rest and rest[0] in command.commands else None
    if command is None:
        return
    try:
        group = click.Context(soakproof, **soakproof.context_settings)  # a command keeps its first group's -h
        command.make_context(name, list(rest), parent=group)
    except (click.exceptions.Exit, click.MissingParameter):
        pass  # --help, and `soakproof adjudicate` alone in a sentence
    except click.UsageError as error:
        raise AssertionError(f"{arguments}: {error.format_message()}") from error


@cache
def locust_options() -> frozenset[str]:
    """Locust's own from its help, which it prints before it reads a locustfile; ours from the reference.

    Importing Locust here would patch this whole process.
    """
    command = [sys.executable, "-m", "locust", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    reference = (DOCS / "reference.md").read_text(encoding="utf-8")
    ours = reference.partition("### `locust`\n")[2].partition("\n## ")[0]
    return frozenset(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", told + ours))


_READ = """
import json, sys
from locust import events
from locust.argument_parser import get_parser
from soakproof.load.arguments import add_arguments
events.init_command_line_parser.add_listener(lambda parser, **_: add_arguments(parser, "soak"))
for line in sys.stdin:
    try:
        get_parser(default_config_files=[]).parse_args(json.loads(line))
        print(0)
    except SystemExit as left:
        print(left.code)
"""


def test_locust_reads_every_command_that_is_told() -> None:
    """By its own parser, with our options in it, in a process that it may patch."""
    told = [
        c[1:] for block in all_blocks() if block.language in SHELL for c in block.commands if c[0] == "locust"
    ]
    wrong = [["-f", "x.py", "--users", "many"], ["-f", "x.py", "--planet", "mars"], ["--worker"]]
    assert len(told) > 10
    lines = "".join(f"{json.dumps(words)}\n" for words in [*told, *wrong])
    command = [sys.executable, "-c", _READ]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["0"] * len(told) + ["64"] * 3, done.stderr


def helps(group: click.Group) -> Iterator[str]:
    """The help text of each command, and of the group."""
    yield group.help or ""
    for command in group.commands.values():
        yield from helps(command) if isinstance(command, click.Group) else [command.help or ""]


def test_no_command_names_a_run_or_a_process_that_a_reader_does_not_have() -> None:
    """A reader types what stands there: `latest`, `auto`, a word in capitals to be replaced, or an option."""
    told = [" ".join(c) for block in all_blocks() if block.language in SHELL for c in block.commands]
    told += [span for page in PAGES for span in spans(page)]
    told += [line for text in helps(soakproof) for line in text.splitlines()]
    named = r"(?:soakproof (?:adjudicate|report|verify|recover)|--baseline|--server-pid)((?: (?!-)[\w./]+)+)"
    words = {
        word for text in told for found in re.findall(named, text) for word in found.split("  ")[0].split()
    }
    assert words >= {"latest", "RUN", "EARLIER_RUN", "PID"}
    bundles = {word for word in words if word.endswith(".tar")}  # made by the line before
    assert not {w for w in words - bundles if w not in ("latest", "auto") and not w.isupper()}


def check_pip(arguments: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for argument in arguments:
        for named in re.findall(r"\[([^\]]+)\]", argument):
            assert set(named.split(",")) <= set(extras), argument


@pytest.mark.parametrize(
    "told",
    [
        "soakproof adjudicte latest",
        "soakproof adjudicate latest --basline x",
        "soakproof try isolation --times many",
        "locust -f locustfiles/soak.py --headles",
        "locust -f locustfiles/sook.py",
        'pip install -e ".[testbad]"',
        "python docs/generat",
        "frobnicate all",
    ],
)
def test_a_command_that_is_wrong_is_found(told: str) -> None:
    with pytest.raises(AssertionError):
        check(commands(told)[0])


def test_commands_are_split_as_a_shell_would() -> None:
    told = (
        'A_KEY=x locust -f a.py \\\n  --host u && soakproof plans  # and so on\n$ pip install -e ".[dev]"\n'
    )
    assert commands(told) == [
        ["locust", "-f", "a.py", "--host", "u"],
        ["soakproof", "plans"],
        ["pip", "install", "-e", ".[dev]"],
    ]

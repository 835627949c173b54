"""Our options on Locust's command line, and what they resolve to."""

import argparse
import dataclasses
import re
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from locust import User

from soakproof.errors import EXIT_USAGE, UsageError, did_you_mean, nothing_given, words
from soakproof.load.outputs import csv_prefix
from soakproof.load.rig import Wishes
from soakproof.named import refuse_missing_logs, refuse_missing_processes
from soakproof.plain import plain
from soakproof.plan import MOST_USERS, Plan, is_seed
from soakproof.redaction import without_options
from soakproof.target import Credentials, split_host

TESTBED = "http://testbed"  # as a host: the embedded one; the page of the web UI takes nothing but URLs
LONGEST_S = 366 * 86_400  # of a load
MOST_PORT = 65_535
_SECRET = ("api_key", "web_login", "tls_key")
_LISTS = ("tags", "exclude_tags", "server_log", "server_pid")
_FILLED = ("host", "plan", "model", "api_key", "runs", "testbed_model", "server_log", "logfile")
_FILLED_AS = {"csv_prefix": "csv", "html_file": "html", "json_file": "json-file"}  # by Locust's names


def add_arguments(parser: Any, plan: str) -> None:
    """Add the options to Locust's own parser, so that its config files and LOCUST_ variables work for them.

    Options of a group stay out of the web UI, which would put the key into its page's source.
    """
    parser.set_defaults(web_host="127.0.0.1")
    for action in parser._actions:
        if action.dest == "csv_prefix":
            action.type = csv_prefix
    group = parser.add_argument_group(
        "soakproof", "What to soak and how. Without --host the embedded testbed is used."
    )
    group.add_argument(
        "--plan",
        default=plan,
        metavar="NAME|FILE",
        env_var="LOCUST_PLAN",
        help=f"the plan: mix, sizes, limits ({plan})",
    )
    group.add_argument(
        "--model",
        default=None,
        metavar="NAME",
        env_var="LOCUST_MODEL",
        help="the model's name, or an alias, on the target",
    )
    group.add_argument(
        "--api-key",
        default=None,
        metavar="KEY",
        help="sent as a bearer token and never written; else LEMONADE_API_KEY or OPENAI_API_KEY",
    )
    group.add_argument(
        "--seed",
        default=None,
        type=int,
        metavar="NUMBER",
        env_var="LOCUST_SEED",
        help="in place of the plan's: other prompts, such as a server that was soaked before has not seen",
    )
    group.add_argument(
        "--runs",
        default="runs",
        metavar="DIR",
        env_var="LOCUST_RUNS",
        help="where run directories go (runs)",
    )
    group.add_argument(
        "--testbed-model",
        default=None,
        metavar="FILE.gguf",
        env_var="LOCUST_TESTBED_MODEL",
        help="another model for the embedded testbed",
    )
    group.add_argument(
        "--server-log",
        action="append",
        default=[],
        metavar="FILE",
        env_var="LOCUST_SERVER_LOG",
        help="a file that the server or its backend logs to: faults that it tells of are kept (repeatable)",
    )
    group.add_argument(
        "--server-pid",
        action="append",
        default=[],
        type=int,
        metavar="PID",
        env_var="LOCUST_SERVER_PID",
        help="a process of the server's that is not found by itself, such as one in a container (repeatable)",
    )
    _refuse_early(parser)


def _refuse_early(parser: Any) -> None:
    """End as soon as the command line is read: Locust would fork, wait for a master, or end in its own way,
    before it asks us.
    """
    parse = parser.parse_args
    parser.error = lambda message: parser.exit(EXIT_USAGE, f"{parser.prog}: error: {message}\n")

    def parse_args(*given: Any, **more: Any) -> argparse.Namespace:
        try:
            options: argparse.Namespace = parse(*given, **more)
        except OverflowError:
            parser.exit(EXIT_USAGE, "soakproof: a number is too large; was a run time of centuries meant?\n")
        for refusal in _refusals(options):
            parser.exit(EXIT_USAGE, f"soakproof: {refusal}\n")
        return options

    parser.parse_args = parse_args


def _refusals(options: argparse.Namespace) -> Iterator[UsageError]:
    """What Locust would do before it asks us, or end at with the exit code of raw failures."""
    if options.master or options.worker or options.processes:
        yield UsageError(
            "--master, --worker and --processes are not supported yet: a run is one process",
            "one process carries hundreds of streams; raise --users instead",
        )
    if options.web_login:
        yield UsageError(
            "--web-login needs a locustfile with a login of its own, which this is not",
            "the web UI answers this machine alone (--web-host 127.0.0.1); reach it through ssh -L",
        )
    if options.autoquit != -1 and not options.autostart:
        yield UsageError(
            "--autoquit ends the web UI after a load that --autostart began, which is not given",
            "give --autostart as well; a run with --headless ends by itself",
        )
    if options.web_base_path and not options.web_base_path.startswith("/"):
        found = plain(options.web_base_path, 100)
        yield UsageError(f"--web-base-path: expected a path that begins with /, found {found!r}")
    known = _user_classes(User)
    for unknown in sorted(set(options.user_classes) - known):
        yield UsageError(
            f"no user class is called {plain(unknown, 100)!r}",
            "leave it out (a time is one word: -t 3m), or name one of the locustfile's: "
            f"{', '.join(sorted(known))}",
        )


def _user_classes(base: type[User]) -> set[str]:
    """The names of the user classes that were loaded."""
    found = {base.__name__} if not base.abstract else set()
    return found.union(*(_user_classes(made) for made in base.__subclasses__()))


def refuse_odd(options: argparse.Namespace) -> None:
    """What Locust lets pass, and what makes no run. Raises UsageError."""
    for name, value in vars(options).items():
        if isinstance(value, (str, Path)) and not _is_text(str(value)):
            raise UsageError(
                f"--{name.replace('_', '-')}: expected text in UTF-8, found {plain(value, 100)!r}"
            )
    for name in (*_FILLED, *_FILLED_AS):
        given = getattr(options, name)
        if any(not value.strip() for value in ([given] if isinstance(given, str) else given or ())):
            raise nothing_given(f"--{_FILLED_AS.get(name, name.replace('_', '-'))}")
    if options.host and not _is_testbed(options.host):
        split_host(options.host)
    if options.num_users is not None and not 1 <= options.num_users <= MOST_USERS:
        raise UsageError(f"--users: expected 1 to {MOST_USERS}, found {options.num_users}")
    if options.run_time is not None and not 0 < options.run_time <= LONGEST_S:
        raise UsageError(
            f"--run-time: expected more than 0 seconds and at most {LONGEST_S // 86_400} days, "
            f"found {options.run_time} seconds",
            "leave it out for the plan's own duration",
        )


def _is_text(value: str) -> bool:
    try:
        return bool(value.encode() or True)
    except UnicodeEncodeError:
        return False


def refuse_port(options: argparse.Namespace) -> None:
    """An address for the web UI that cannot be had: Locust would end with 0, and nothing run."""
    if options.headless:
        return
    port, host = options.web_port, options.web_host
    told = (
        f"--web-port: {port}"
        if not 0 <= port <= MOST_PORT
        else f"--web-host: {plain(host, 100)}, port {port},"
    )
    try:
        with socket.create_server((host or "", port)):
            return
    except (OSError, OverflowError, UnicodeError) as error:
        why = words(error) if isinstance(error, OSError) else "no port has such a number"
        raise UsageError(f"{told} cannot be had: {why}", "choose another, or --headless") from error


def refuse_unknown_tags(options: argparse.Namespace, plan: Plan) -> None:
    """Names that no kind of the plan has: Locust would leave them out of account. Raises UsageError."""
    names = [kind.name for kind in plan.kinds]
    for option, given in (("--tags", options.tags), ("--exclude-tags", options.exclude_tags)):
        for tag in given or ():
            if tag not in names:
                problem = f"{option}: the plan {plan.name} has no kind {plain(tag, 100)!r}"
                raise UsageError(problem, _tag_hint(option, tag, names))


def _tag_hint(option: str, tag: str, names: Sequence[str]) -> str:
    parts = [part for part in re.split(r"[,;\s]+", tag) if part]
    unknown = [part for part in parts if part not in names]
    if parts and not unknown:
        return f"names stand apart by spaces: {option} {' '.join(parts)}"
    apart = "names stand apart by spaces; " if len(parts) > 1 else ""
    meant = did_you_mean(unknown[0], names) if unknown else ""
    return f"{apart}{meant}they are the names of its kinds: {', '.join(names)}"


def refuse_unseen(options: argparse.Namespace) -> None:
    """Logs and processes that are not there. Raises UsageError."""
    refuse_missing_logs(options.server_log)
    refuse_missing_processes(options.server_pid)


def seeded(plan: Plan, options: argparse.Namespace) -> Plan:
    """The plan with the user's seed, where one was given. Raises UsageError for one of too many bits."""
    if options.seed is None:
        return plan
    if not is_seed(options.seed):
        raise UsageError(f"--seed: expected a number of at most 64 bits, found {plain(options.seed, 40)}")
    return dataclasses.replace(plan, seed=options.seed)


def apply_defaults(options: argparse.Namespace, plan: Plan) -> None:
    """The plan's numbers where the user gave none; wide tables only when they are asked for."""
    options.num_users = options.num_users or plan.users
    options.spawn_rate = options.spawn_rate or float(min(options.num_users, 100))
    if options.headless or options.autostart:
        options.run_time = options.run_time or int(plan.duration)
    if not options.print_stats:
        options.only_summary = True


def wishes(options: argparse.Namespace, host: str | None) -> Wishes:
    """What the options ask for."""
    return Wishes(
        host=None if not host or _is_testbed(host) else host,
        model=options.model or None,
        runs=Path(options.runs),
        credentials=Credentials.find(options.api_key),
        testbed_model=Path(options.testbed_model) if options.testbed_model else None,
        server_logs=tuple(str(Path(log).absolute()) for log in options.server_log),
        server_pids=tuple(options.server_pid),
        arguments=_shown(options),
    )


def _is_testbed(host: str) -> bool:
    return host.rstrip("/") in (TESTBED, "testbed", "")


def _shown(options: argparse.Namespace) -> dict[str, Any]:
    """The options that are set, for run.json; secrets are left out."""
    shown = {
        name: value
        for name, value in sorted(vars(options).items())
        if value not in (None, False, [], "")
        and name not in _SECRET
        and (isinstance(value, (str, int, float, bool)) or name in _LISTS)
    }
    return dict(without_options(shown))

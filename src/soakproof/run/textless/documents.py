"""run.json, raw.json and verdict.json without what a model wrote or was asked. No I/O."""

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from soakproof.nesting import bounded
from soakproof.redaction import REMOVED
from soakproof.run.seal import RAW, RUN
from soakproof.run.textless.values import Rule, rules, text, whole
from soakproof.run.verdicts import VERDICT

_HARMLESS = ("title", "that", "why")  # of a plan: words about it, which nobody is asked
_SHORT = re.compile(r"[\w.:/%+-]{1,60}|[\d.,]+ ?\w{1,12}")  # a word, or a quantity such as "6000 tokens"


def _of(value: Any, fields: Mapping[str, Rule], others: Rule) -> Any:
    """An object by a rule for each field; no text of anything else."""
    if not isinstance(value, Mapping):
        return text(value)
    return {key: fields.get(key, others)(item) for key, item in value.items()}


def _each(value: Any, rule: Rule) -> Any:
    return [rule(item) for item in value] if isinstance(value, list) else text(value)


def _ended(value: Any) -> Any:
    return _of(value, rules(text="reason"), whole)


def _run(document: Any) -> Any:
    """How the load ended and what was remarked of the target quote servers; options may be what is asked."""
    return _of(document, {"ended": _ended, "target": _target, "plan": _plan}, whole)


def _target(value: Any) -> Any:
    return _of(value, rules(text="remarks"), whole)


def _plan(value: Any) -> Any:
    return _of(value, {"kinds": lambda kinds: _each(kinds, _kind), "source": _source}, whole)


def _kind(value: Any) -> Any:
    return _of(value, rules(words="options"), whole)


def _source(value: Any) -> Any:
    """The plan's own text, unless something in it may be asked, by a kind that was left out, say."""
    return (
        value if isinstance(value, str) and (value in ("", REMOVED) or _asks_nothing(value)) else text(value)
    )


def _asks_nothing(source: str) -> bool:
    try:
        return _is_told(bounded(tomllib.loads(source)), "")
    except (ValueError, RecursionError):
        return False


def _is_told(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        return all(_is_told(item, key) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_told(item, name) for item in value)
    return not isinstance(value, str) or name in _HARMLESS or bool(_SHORT.fullmatch(value))


def _raw(document: Any) -> Any:
    """The first failures quote answers."""
    return _of(document, {"first_failures": text, "ended": _ended}, whole)


_FIGURE = rules(whole="name unit value n baseline", words="note")
_FINDING: dict[str, Rule] = {
    **rules(whole="adjudicator question outcome limit limit_source exchanges span critical fault"),
    **rules(label="subject"),
    "figures": lambda figures: _each(figures, lambda figure: _of(figure, _FIGURE, text)),
}
_VERDICT: dict[str, Rule] = {
    **rules(whole="format exit_code outcome run policy baseline baseline_repeats judged_at reconsidered"),
    **rules(whole="versions rests_on caveats not_proven", words="changed"),
    "raw": _raw,
    "identity": lambda identity: _of(identity, rules(words="kind_options plan"), whole),
    "findings": lambda findings: _each(findings, lambda finding: _of(finding, _FINDING, text)),
}


def _verdict(document: Any) -> Any:
    """Outcomes, figures and limits stay; a sentence of an adjudicator may quote an answer."""
    return _of(document, _VERDICT, text)


DOCUMENTS: Mapping[str, Callable[[Any], Any]] = {RUN: _run, RAW: _raw, VERDICT: _verdict}

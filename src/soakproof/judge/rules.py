"""A policy as judging uses it: frozen values, made from TOML by `soakproof.policy`. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from soakproof.judge.finding import Adjudicator

Role = Literal["same", "under_test", "noted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconsider:
    """Permission to overrule one raw threshold: by whom, why, until when, and what must pass instead."""

    threshold: str
    reason: str
    requires: tuple[str, ...]  # adjudicators, all of which must pass
    who: str
    expires: date  # the last day on which it holds, UTC


@dataclass(frozen=True, slots=True)
class Rule:
    """One adjudicator of a policy, with its options set."""

    adjudicator: Adjudicator
    critical: bool = True  # whether its findings decide the verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides a verdict. ``rules`` are by adjudicator's name, in the policy's order."""

    name: str
    title: str = ""
    rules: Mapping[str, Rule]
    baseline_required: bool = False
    roles: Mapping[str, Role] = field(default_factory=dict)  # identity fields whose role was moved
    reconsider: tuple[Reconsider, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)  # of the policy's and the adjudicators' files

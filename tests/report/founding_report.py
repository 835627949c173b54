"""The founding case by hand: three prose requests under a limit that was written for another model, every
check passed, and a faster result than the same model's own baseline.
"""

import math
import random
from typing import Any

from soakproof.judge import Evidence, Figure, Finding, Outcome
from soakproof.judge.finding import Reconsidered, Verdict
from soakproof.records import Record
from soakproof.testing.evidence import PLAN, check, evidence, exchange, iteration, plan_kind, sample, trace

GIB = 2**30
DURATION = 1820.47
THAT = "generation_rate{long_prose} each >= 17 tokens/s"
KINDS = {
    "structured_json": (10, 6.0, "json.strict", "json.values"),
    "isolation": (10, 9.0, "isolation.own", "isolation.foreign"),
    "cache_pair": (10, 32.0, "cache.exact", "cache.restored"),
    "cancellation": (10, 18.0, "cancel.released", "cancel.after"),
    "long_prose": (3, 270.0, "prose.length"),
}
TARGET: dict[str, Any] = {
    "kind": "lemonade",
    "base_url": "http://127.0.0.1:13305",
    "prefix": "/api/v1",
    "model": "llm",
    "model_resolved": "qwen-122b-q8",
    "version": "11.8.0",
    "build": "b11434",
    "recipe": "llamacpp",
    "recipe_options": {"ctx_size": 524288, "llamacpp_args": "-np 2 -ctk q8_0 -ctv q8_0"},
    "launch_command": [
        "llama-server",
        "-m",
        "model.gguf",
        "--ctx-size",
        "524288",
        "-np",
        "2",
        "-ctk",
        "q8_0",
    ],
    "slots": 2,
    "slot_context": 262144,
    "testbed": False,
}
HOST = {
    "os": "Linux",
    "kernel": "6.17.0-5-generic",
    "cpu": "AMD Ryzen AI MAX+ 395",
    "cores": 32,
    "memory_bytes": 125 * GIB,
    "machine": "x86_64",
}


def prose(number: int, at: float, rate: float) -> list[Record]:
    """A long answer of 768 tokens at this rate, after 31,012 prompt tokens."""
    first, spent = 186.0, 768 / rate
    return [
        exchange(
            at=at,
            took=first + spent,
            first=first / (first + spent),
            kind="long_prose",
            iteration=number,
            finish_reason="length",
            prompt_tokens=31012,
            completion_tokens=768,
            timings={
                "prompt_n": 31012,
                "prompt_ms": first * 1000,
                "predicted_n": 768,
                "predicted_ms": spent * 1000,
            },
            text="The river went on past the mill, " * 40,
        )
    ]


def short(kind: str, number: int, at: float, took: float, draw: random.Random) -> list[Record]:
    """Two requests of one iteration of a short kind."""
    found: list[Record] = []
    for role, start in (("a", at), ("b", at + 0.01 if kind == "isolation" else at + took / 2)):
        tokens = draw.randrange(24, 120)
        spent = tokens / draw.uniform(11.5, 14.5)
        found.append(
            exchange(
                at=start,
                took=min(took / 2.1, 0.4 + spent),
                first=draw.uniform(0.05, 0.3),
                kind=kind,
                iteration=number,
                role=role,
                completion_tokens=tokens,
                prompt_tokens=300,
                timings={
                    "prompt_n": 300,
                    "prompt_ms": draw.uniform(1800, 2400),
                    "predicted_n": tokens,
                    "predicted_ms": spent * 1000,
                },
            )
        )
    return found


def traffic(rates: tuple[float, ...], seed: int) -> list[Record]:
    """43 iterations over the run, two at a time, with every check passed."""
    draw = random.Random(seed)
    deck = [kind for kind, (count, *_) in KINDS.items() for _ in range(count)]
    draw.shuffle(deck)
    free, done = [12.0, 13.0], dict.fromkeys(KINDS, 0)
    records: list[Record] = []
    for kind in deck:
        lane = free.index(min(free))
        at, number = free[lane], done[kind] + 1
        done[kind] = number
        took = KINDS[kind][1] * 1.9 if kind != "long_prose" else 186.0 + 768 / rates[number - 1]
        records += (
            prose(number, at, rates[number - 1])
            if kind == "long_prose"
            else short(kind, number, at, took, draw)
        )
        records.append(iteration(kind, number, at=at, took=took))
        ids = tuple(r.id for r in records if getattr(r, "iteration", 0) == number and getattr(r, "role", ""))[
            -2:
        ]
        records += [
            check(n, at=at + took, kind=kind, iteration=number, exchanges=ids) for n in KINDS[kind][2:]
        ]
        free[lane] = at + took + draw.uniform(8, 34)
    return records


def watched(length: float = 1832.0) -> list[Record]:
    """A reading a second: memory down to 45.64 GiB, GTT up to 70.91 GiB, one stretch without readings."""

    def available(at: float) -> int:
        return round((45.64 + 1.9 * math.exp(-at / 240) + 0.35 * (1 + math.sin(at / 37)) / 2) * GIB)

    def gtt(at: float) -> int:
        return round((70.91 - 0.8 * math.exp(-at / 200) - 0.05 * (1 + math.sin(at / 53))) * GIB)

    memory = [s for s in trace("memory", length, available_bytes=available) if not 700e9 < s.due_ns < 736e9]
    backend = trace(
        "process:backend", length, rss_anon_bytes=lambda t: round((3.1 + t / 9000) * GIB), swap_bytes=0
    )
    busy = trace("slots", length, every=2.5, total=2, busy=lambda t: 1 + int(math.sin(t / 31) > -0.3))
    silent = [
        sample("psi", t, state="unsupported", reason="this kernel has no /proc/pressure") for t in (0, 60)
    ]
    return [*memory, *backend, *trace("amdgpu:card1", length, gtt_used_bytes=gtt), *busy, *silent]


def run(
    rates: tuple[float, ...] = (12.31, 12.29, 12.24),
    seed: int = 7,
    id: str = "2026-08-28T08-12-40Z-soak-7f3a",
) -> Evidence:
    """The soak's evidence, or with other rates the baseline's."""
    kinds = [plan_kind(name, count, checks) for name, (count, _, *checks) in KINDS.items()]
    return evidence(
        traffic(rates, seed),
        watched(),
        duration=DURATION,
        target=TARGET,
        plan={
            **PLAN,
            "name": "soak",
            "title": "Half an hour of mixed traffic",
            "duration_s": 1800.0,
            "deck": 43,
            "kinds": kinds,
        },
        run={
            "program": "soakproof 0.1.0",
            "started_at": "2026-08-28T08:12:40Z",
            "host": HOST,
            "versions": {"python": "3.12.3", "locust": "2.47.0"},
        },
        raw=raw(),
        id=id,
    )


def raw() -> dict[str, Any]:
    """raw.json: three failures of one threshold."""
    rates = {1: 12.31, 2: 12.29, 3: 12.24}
    return {
        "outcome": "failed",
        "exit_code": 1,
        "thresholds": [
            {
                "name": "prose-rate",
                "that": THAT,
                "why": "interactive use",
                "outcome": "fail",
                "observed": 12.24,
                "unit": "tokens/s",
                "n": 3,
                "failed": 3,
                "failures": [{"exchange": f"long_prose-{n}-ask", "value": v} for n, v in rates.items()],
                "reason": "",
            },
            {
                "name": "stalls",
                "that": "stalls count <= 0",
                "outcome": "pass",
                "observed": 0,
                "unit": "",
                "n": 83,
                "failed": 0,
                "failures": [],
            },
        ],
        "checks": {
            n: {"pass": c, "fail": 0, "unknown": 0, "known": 0}
            for c, _, *names in KINDS.values()
            for n in names
        },
        "exchanges": {"opened": 83, "closed": 83, "ok": 83, "fail": 0, "unknown": 0, "by_failure": {}},
        "iterations": {
            k: {"completed": c, "failed": 0, "stopped": 0, "broken": 0} for k, (c, *_) in KINDS.items()
        },
        "ended": {"why": "time", "reason": ""},
    }


def finding(
    adjudicator: str, subject: str, answer: str, outcome: Outcome = Outcome.PASS, **more: Any
) -> Finding:
    question = more.pop("question", f"What does {adjudicator} say of {subject}?")
    return Finding(
        adjudicator=adjudicator, subject=subject, question=question, outcome=outcome, answer=answer, **more
    )


def findings() -> tuple[Finding, ...]:
    """What each adjudicator of the release policy said."""
    checks = [
        finding(
            "functional",
            name,
            f"Held in {count} of {count}.",
            question="Did every check of every kind hold, and did every exchange succeed?",
            figures=(Figure(name="passed", value=count, n=count),),
            limit="no failure, and at most 5% unknown",
            limit_source="policy",
        )
        for count, _, *names in KINDS.values()
        for name in names
    ]
    rate = finding(
        "throughput",
        "long_prose",
        "Generation is 3.6 % faster than the same model's baseline.",
        question="Is generation as fast as the same model's own baseline?",
        figures=(
            Figure(name="median generation rate", value=12.29, unit="tokens/s", n=3, baseline=11.86),
            Figure(name="prompt rate", value=166.7, unit="tokens/s", n=3, baseline=165.9),
            Figure(name="draft acceptance", value=None, unit="%", note="no draft model is loaded"),
        ),
        limit="at least 97 % of the baseline",
        limit_source="policy",
        exchanges=tuple(f"long_prose-{n}-ask" for n in (1, 2, 3)),
        strength="3 against 3: descriptive only",
    )
    memory = finding(
        "memory",
        "available",
        "Never under 45.64 GiB.",
        question="Did the host keep memory in hand, and does anything grow?",
        figures=(
            Figure(name="lowest available", value=45.64 * GIB, unit="bytes", n=1832, baseline=45.71 * GIB),
            Figure(name="highest GTT", value=70.91 * GIB, unit="bytes", n=1832),
        ),
        limit="at least 18 GiB",
        limit_source="policy",
        span=(0.0, 1832.0),
        strength="a trace of half an hour cannot prove or exclude a leak",
    )
    kernel = finding(
        "kernel",
        "gpu",
        "No reset, page fault, device loss or SVM mapping failure.",
        limit="none",
        limit_source="policy",
    )
    kept = finding(
        "raw",
        "prose-rate",
        "It failed: 3 failures. The failure stands, and the policy reconsiders it.",
        Outcome.FAIL,
        question="Did the run keep its own threshold prose-rate?",
        figures=(Figure(name="prose-rate", value=12.24, unit="tokens/s", n=3),),
        limit=THAT,
        limit_source="plan",
        critical=False,
    )
    return (*checks, rate, memory, kernel, kept)


def verdict(**more: Any) -> Verdict:
    """PASS, with the raw failures in sight."""
    values: dict[str, Any] = {
        "outcome": Outcome.PASS,
        "run": "2026-08-28T08-12-40Z-soak-7f3a",
        "policy": "release",
        "baseline": "2026-08-20T10-00-00Z-soak-k3aa",
        "judged_at": "2026-08-28T09:02:11Z",
        "raw": raw(),
        "findings": findings(),
        "reconsidered": (
            Reconsidered(
                threshold="prose-rate",
                applied=True,
                reason="17 tokens/s was written for another, speculative model",
                who="the release's owner",
                expires="2026-11-30",
                requires=("functional", "throughput"),
            ),
        ),
        "rests_on": "30 min of load on Lemonade at http://127.0.0.1:13305 with qwen-122b-q8: 83 requests in "
        "43 completed iterations of 5 kinds; against the baseline 2026-08-20T10-00-00Z-soak-k3aa (30 min).",
        "caveats": ("30 min can neither prove nor exclude a leak.", "Not seen: the kernel log."),
        "not_proven": (
            "Two prompts near the full context were never under way at the same time.",
            "Half an hour says nothing about a trend over a day.",
        ),
        "identity": TARGET,
        "changed": (
            {"field": "build", "role": "under test", "was": "b11380", "is": "b11434"},
            {"field": "launch_command", "role": "under test", "was": ["-ctk", "f16"], "is": ["-ctk", "q8_0"]},
            {"field": "power profile", "role": "noted", "was": None, "is": "performance"},
        ),
        "versions": {"soakproof": "0.1.0", "policy": "sha256:5f0c", "adjudicators/memory.py": "sha256:a1b2"},
    }
    return Verdict(**{**values, **more})


def baseline() -> Evidence:
    """An earlier run of the same model."""
    return run((11.92, 11.86, 11.80), seed=3, id="2026-08-20T10-00-00Z-soak-k3aa")

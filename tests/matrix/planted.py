"""Soaking one plant: from the testbed over Locust and the sealed run to the verdict and its findings."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from soakproof.catalog import Catalog
from soakproof.judge import Finding, Outcome
from soakproof.judgement import judge_loaded
from soakproof.run import load
from soakproof.testbed import planting
from soakproof.testbed.launch import Testbed
from soakproof.testbed.plant import Fires, Plant
from tests.load.soaks import ROOT, THRESHOLDS, document, lines, locust, output, the_run

PRESSED = 15.0  # percent: alone on a machine a proof has less
# For soaks that are short and small: what is proven is that the fault is seen, not how much there was of
# everything.
_OPTIONS = {
    "functional": 'unknown = "50 %"',
    "isolation": "overlaps = 0",
    "coverage": 'decks = 0\nduration = "50 %"\nsamples = "50 %"\nrequired = []',
    "kernel": "required = false",
    "slots": "required = false",
}


@dataclass(frozen=True)
class Proof:
    """What a soak of a plant showed."""

    plant: str
    outcome: str
    findings: dict[str, Finding]  # by detector
    run: Path
    said: str
    pressed: float  # percent of the time in which somebody waited for a processor, at most

    def fired(self) -> dict[str, str]:
        """Detectors that saw something, with their outcome; what the run said itself is no detector's."""
        seen = {name: str(f.outcome) for name, f in self.findings.items() if f.adjudicator != "raw"}
        return {name: outcome for name, outcome in seen.items() if outcome in ("FAIL", "ERROR")}

    def starved(self) -> list[str]:
        """What says that this machine had too little time for the tester: such a proof proves nothing."""
        findings = [f for f in self.findings.values() if f.adjudicator in ("generator", "coverage")]
        return [f.answer for f in findings if f.outcome == Outcome.INCONCLUSIVE and f.critical]

    def grades(self, fires: Fires) -> set[str]:
        """Classes of what failed for this detector: grades of its checks, failures of its exchanges."""
        name = fires.detector.partition(": ")[2].rpartition(": ")[2]
        checks = lines(self.run, "checks.jsonl")
        exchanges = lines(self.run, "exchanges.jsonl")
        return {c["grade"] for c in checks if c["name"] == name and c["outcome"] != "pass"} | {
            x["failure"] for x in exchanges if x["record"] == "closed" and x["outcome"] == "fail"
        }

    def iterations(self, fires: Fires) -> int | None:
        """How many iterations had ended when the first one was done that this detector saw; None if none."""
        involved = set(self.findings[fires.detector].exchanges)
        exchanges = lines(self.run, "exchanges.jsonl")
        seen = {(x["scenario"], x["iteration"]) for x in exchanges if x["id"] in involved}
        ended = [(i["scenario"], i["number"]) for i in lines(self.run, "iterations.jsonl")]
        return next((n for n, key in enumerate(ended, 1) if key in seen), None)

    def lacks(self, kind: type[Plant]) -> list[str]:
        """Findings that the plant names and that are not as it says."""
        return [f.detector for f in kind.fires if str(self._outcome(f.detector)) != f.outcome]

    def is_short(self, kind: type[Plant]) -> bool:
        """Whether fewer iterations ended than the fault may take until some detector sees it."""
        ended = len(lines(self.run, "iterations.jsonl"))
        return any(f.within is not None and ended < f.within for f in kind.fires)

    def _outcome(self, detector: str) -> Outcome | None:
        finding = self.findings.get(detector)
        return finding.outcome if finding else None


@contextmanager
def planted(pair: Testbed, given: str) -> Iterator[None]:
    """The plant, as long as the block lasts."""
    name = given.partition("=")[0]
    patient = httpx.HTTPTransport(retries=6)  # a plant may have the front refuse connections just now
    with httpx.Client(base_url=pair.url, trust_env=False, timeout=30, transport=patient) as client:
        client.post("/internal/plants", json={"plant": [given]}).raise_for_status()
        try:
            yield
        finally:
            client.post("/internal/plants", json={"lift": [name]}).raise_for_status()


def soak(folder: Path, pair: Testbed, name: str, times: int = 1) -> Proof:
    """A short soak of the plan that the plant names, judged; so many times as long as the plant asks for.

    Each has a seed of its own: the server still holds the registers of the plants before it.
    """
    kind: type[Plant] = planting.find(name)
    seed = zlib.crc32(name.encode()) % 1000
    (folder / "proof.toml").write_text(
        f'users = {kind.users}\nthink_time = "{kind.think_time}"\nduration = "{kind.seconds * times}s"\n'
        f"seed = {seed}\n{kind.plan}{THRESHOLDS}"
    )
    (folder / "policy.toml").write_text(_policy(kind.policy))
    asked = ("--headless", "--plan", "proof.toml", "--host", pair.url, "--model", "llm")
    log = ("--server-log", str(pair.log_dir / "engine.log"))
    given = name if kind.proof_value is None else f"{name}={kind.proof_value}"
    with planted(pair, given), locust(folder, *asked, *log) as process:
        process.wait(90)
    run = the_run(folder)
    verdict, evidence = judge_loaded(load(run), None, str(folder / "policy.toml"), Catalog(folder))
    findings = {f"{f.adjudicator}: {f.subject}": f for f in verdict.findings}
    waited = evidence.source("psi").numbers("cpu_some_avg10_percent")
    pressed = float(max(waited[~np.isnan(waited)], default=0))
    said = output(folder) + str(document(run / "raw.json"))
    return Proof(name, verdict.outcome, findings, run, said, pressed)


def prove(folder: Path, pair: Testbed, name: str) -> Proof:
    """The soak of a plant; once more, and for longer, where this machine was too busy for the tester, for
    enough iterations or for even times, and what the plant names was not seen.
    """
    kind, proof = planting.find(name), soak(folder, pair, name)
    starved = proof.outcome == Outcome.INCONCLUSIVE != kind.verdict and proof.starved()
    if starved or (proof.lacks(kind) and (proof.pressed > PRESSED or proof.is_short(kind))):
        (again := folder / "again").mkdir()
        return soak(again, pair, name, times=2)
    return proof


def _policy(more: str) -> str:
    """A table for every adjudicator; a plant's own tables in place of those of the same name."""
    tables = []
    for path in sorted((ROOT / "adjudicators").glob("*.py")):
        if (head := f"[adjudicator.{path.stem}]") not in more:
            tables.append(f"{head}\n{_OPTIONS.get(path.stem, '')}\n")
    return "".join([*tables, more])

"""A run directory: create, append, seal, load, verify, recover. The only room that writes evidence.

    runs/<utc>-<plan>-<id>/
      run.json                 what was run, on what
      evidence/<node>/*.jsonl  one writer a folder, then its SEAL
      raw.json                 the run's own judgement of its thresholds and checks
      SEAL                     of run.json, raw.json and every node's SEAL
      verdicts/                judgements; outside the seal, each with a SEAL of its own

`soakproof.run.bundle` makes one archive of all that is sealed.

A SEAL is a text of `sha256  size  path` lines, in the order of the paths, under a header line.
"""

from soakproof.run.bare import BARE_HINT, bare_among
from soakproof.run.baselines import (
    Baseline,
    add_baseline,
    baselines,
    broken_baselines,
    has_baseline,
    read_baseline,
    remove_baseline,
)
from soakproof.run.decoding import Wrong, read_records
from soakproof.run.files import check_room, digest, to_json, write_atomic, written_whole
from soakproof.run.loading import (
    Loaded,
    all_of,
    damage,
    find,
    how_to_make_one,
    is_run,
    load,
    of_newer,
    read_run,
    refuse_changed,
)
from soakproof.run.naming import GUARDS, RUNS, runs_option, typed
from soakproof.run.recovery import being_written, recover, seal_abandoned, sealing
from soakproof.run.references import Reference, refer, state
from soakproof.run.seal import EVIDENCE, RAW, RUN, SEAL, SealState, is_own, seal_folder, seal_run, verify
from soakproof.run.shapes import shaped_run
from soakproof.run.verdicts import (
    TAKEN,
    VERDICT,
    VERDICTS,
    EntryState,
    VerdictFolder,
    has_no_verdict_folder,
    missing_verdicts,
    reseal_entry,
    seal_entry,
    unfinished_verdicts,
    verdict_folders,
    verify_entry,
)
from soakproof.run.writing import NodeWriter, Run

__all__ = [
    "BARE_HINT",
    "EVIDENCE",
    "GUARDS",
    "RAW",
    "RUN",
    "RUNS",
    "SEAL",
    "TAKEN",
    "VERDICT",
    "VERDICTS",
    "Baseline",
    "EntryState",
    "Loaded",
    "NodeWriter",
    "Reference",
    "Run",
    "SealState",
    "VerdictFolder",
    "Wrong",
    "add_baseline",
    "all_of",
    "bare_among",
    "baselines",
    "being_written",
    "broken_baselines",
    "check_room",
    "damage",
    "digest",
    "find",
    "has_baseline",
    "has_no_verdict_folder",
    "how_to_make_one",
    "is_own",
    "is_run",
    "load",
    "missing_verdicts",
    "of_newer",
    "read_baseline",
    "read_records",
    "read_run",
    "recover",
    "refer",
    "refuse_changed",
    "remove_baseline",
    "reseal_entry",
    "runs_option",
    "seal_abandoned",
    "seal_entry",
    "seal_folder",
    "seal_run",
    "sealing",
    "shaped_run",
    "state",
    "to_json",
    "typed",
    "unfinished_verdicts",
    "verdict_folders",
    "verify",
    "verify_entry",
    "write_atomic",
    "written_whole",
]

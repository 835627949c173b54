"""The section on measurements that are entered."""

from collections.abc import Iterator

from source import example, first_line
from tables import keys, table

from soakproof import measurements
from soakproof.judge.comparing.request import METRICS_COMPARED
from soakproof.judge.comparing.tables import ArmTable, ChangeTable, RepeatTable, SummaryTable


def section() -> Iterator[str]:
    yield "## Measurements that are entered"
    yield ""
    yield "For `soakproof compare --data FILE`. The file's form, by an example; a CSV file has repeats"
    yield "alone, with the same names as columns."
    yield ""
    yield f"```text\n{example(measurements.__doc__)}\n```"
    yield f"Metrics, in each but `[[arm]]`: {', '.join(f'`{name}`' for name in METRICS_COMPARED)}."
    for name, kind in (
        ("arm", ArmTable),
        ("repeat", RepeatTable),
        ("summary", SummaryTable),
        ("change", ChangeTable),
    ):
        yield ""
        yield f"`[[{name}]]`: {first_line(kind)}"
        yield from keys(kind, f"{name}.")
    yield from table(("file's own key", "what it is"), [("`title`, `source`", "for whoever reads the file")])

"""A threshold about a role that no request has is told of while the run goes on."""

from pathlib import Path

from soakproof.catalog import Catalog
from soakproof.load.missingroles import AFTER, MissingRoles
from soakproof.plan import load_plan

PLAN = """
[mix]
isolation = 1
[[threshold]]
name = "right"
that = "first_token_time{isolation.client-1} p95 <= 30 s"
[[threshold]]
name = "misspelt"
that = "first_token_time{isolation.cleint-1} p95 <= 30 s"
[[threshold]]
name = "a check"
that = "failed_checks{isolation.own} count == 0"
[[threshold]]
name = "of the kind"
that = "first_token_time{isolation} p95 <= 30 s"
"""
ROLES = {"isolation": {"client-1", "client-2"}}


def test_a_misspelt_role_is_told_of_once_and_a_right_one_never(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(PLAN)
    missing = MissingRoles(load_plan(Catalog(tmp_path), str(tmp_path / "mine.toml")))
    assert list(missing.told({}, {})) == []
    assert list(missing.told(ROLES, {"isolation": AFTER - 1})) == []
    (told,) = missing.told(ROLES, {"isolation": AFTER})
    assert "isolation.cleint-1" in told
    assert "there are: client-1, client-2" in told
    assert list(missing.told(ROLES, {"isolation": AFTER + 1})) == []

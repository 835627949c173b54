"""What a trial shows of prompts, answers and notes: what decides a check is in sight, or one is told how."""

from soakproof.gates.telling import Terminal, excerpt
from soakproof.scenario import Ask
from soakproof.testing.evidence import exchange, opened


def shown(full: bool = False, width: int = 80) -> tuple[Terminal, list[str]]:
    said: list[str] = []
    return Terminal(said.append, lambda text: None, times=1, width=width, full=full), said


def test_a_text_of_a_few_lines_is_shown_whole() -> None:
    terminal, said = shown()
    text = " ".join(f"word{n:02d}" for n in range(65))
    terminal.asked(opened(exchange()), Ask(text))
    assert text in " ".join("\n".join(said).split())


def test_a_text_that_is_cut_says_how_much_is_left_out_and_how_to_see_it() -> None:
    terminal, said = shown()
    terminal.asked(opened(exchange()), Ask("begin " + "x" * 2000 + " end"))
    told = "".join(said)
    assert "more: --full]" in told
    assert "begin" in told
    assert 'end"' in told


def test_an_excerpt_counts_what_it_leaves_out() -> None:
    text = "a" * 500 + "b" * 500
    found = excerpt(text, 120)
    assert len(found) <= 120
    (left_out,) = [int(part.split()[0]) for part in found.split("[")[1:]]
    assert left_out == 1000 - found.partition(" ")[0].count("a") - found.rpartition(" ")[2].count("b")


def test_times_are_from_when_a_request_was_due_as_the_metrics_have_them() -> None:
    terminal, said = shown()
    terminal.ended(exchange("x", at=1.0, due=0.0, first=0.25, took=2.0))
    assert any("ok in 3.00 s, first token after 1.50 s" in line for line in said), said


def test_a_note_is_told_in_words() -> None:
    terminal, said = shown(width=200)
    terminal.ended(exchange(notes=("created_changed", "id_changed: was a, is b", "of_tomorrow: hm")))
    told = "\n".join(said)
    assert "note: created_changed: the time of creation changes within an answer" in told
    assert "note: id_changed: the id changes within an answer: no leak by itself (was a, is b)" in told
    assert "note: of_tomorrow: a note that this release does not know (hm)" in told

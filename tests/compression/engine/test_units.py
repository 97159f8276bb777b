from collections.abc import Iterator, Sequence

from compression.engine.tool_output import cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, fill, units_of


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def line(index: int, text: str, tier: Tier = "may", rank: int = 0) -> Unit:
    return Unit(text, tier, index, rank, tier, index, 1)


def test_musts_come_before_shoulds_and_shoulds_before_mays() -> None:
    units = Units((line(0, "may be far too long"), line(1, "should", "should"), line(2, "must", "must")), 3)

    assert fill(units, 6, words).text == "... 1 line omitted\nshould\nmust"


def test_every_gap_has_its_own_line_and_the_whole_stays_within_the_budget() -> None:
    units = Units(tuple(line(n, f"line-{n}", "must" if n in (2, 5) else "may") for n in range(8)), 8)

    result = fill(units, 14, words)

    assert result.text == "... 2 lines omitted\nline-2\n... 2 lines omitted\nline-5\n... 2 lines omitted"
    assert result.counts == {"2"}
    assert words([result.text]) == [14]


def test_one_line_tells_all_gaps_when_lines_show_them_by_themselves() -> None:
    units = Units(tuple(line(n, f"line-{n}", "must" if n in (2, 5) else "may") for n in range(8)), 8, gaps="once")

    assert fill(units, 6, words).text == "line-2\nline-5\n... 6 lines omitted"


def test_a_must_over_the_budget_is_shortened_not_dropped() -> None:
    units = Units(
        (line(0, "one two three four five six seven eight nine ten " * 4, "must"), line(1, "exit 1", "must", -1)), 2
    )

    result = fill(units, 16, words)

    assert result.text.endswith("exit 1")
    assert result.text.startswith("one two")
    assert "…" in result.text


def test_a_budget_too_small_for_anything_gives_nothing() -> None:
    assert fill(Units((line(0, "one two three"),), 1), 1, words).text == ""


def test_what_was_kept_is_told_by_label_and_number() -> None:
    units = Units((line(0, "a", "must"), line(1, "b", "must"), line(2, "c", "may")), 3)

    assert fill(units, 10, words).kept == ("must (2)", "may")


def test_a_name_is_cut_whole_or_not_at_all() -> None:
    assert clip("open src/app.py now", 12) == "open …"
    assert clip("open src/app.py now", 17) == "open src/app.py …"
    assert clip("a" * 100, 10) == "…"
    assert clip("go https://e.org/x?y=1😀2 and on", 24) == "go …"
    assert clip("short", 5) == "short"


def test_counts_are_written_with_separators() -> None:
    assert counted(1234567) == "1,234,567"


def test_an_exit_code_of_the_wrapper_is_a_must() -> None:
    source = cleaned('{"output": "fine", "exit_code": 3}')

    assert units_of(source, ()).units == (Unit("exit_code: 3", "must", -1_000, -1_000, "exit code"),)


def test_ordinary_units_are_made_only_when_there_is_room_for_them() -> None:
    made: list[int] = []

    def rest() -> Iterator[Unit]:
        for number in range(1_000):
            made.append(number)
            yield Unit(f"line {number} of the text", "may", number, 0, "line", number, 1)

    musts = (Unit("four words of weight", "must", -1, 0, "total"),)
    few = fill(Units(musts, 1_000, gaps="once", rest=rest), 9, words)
    made_for_few = len(made)
    more = fill(Units(musts, 1_000, gaps="once", rest=rest), 40, words)

    assert few.text == "four words of weight\n... 1,000 lines omitted"
    assert more.text.split("\n")[:3] == ["four words of weight", "line 0 of the text", "line 1 of the text"]
    assert (made_for_few < 1_000, len(made) < 1_000) == (True, True)


def test_all_units_can_be_asked_for_at_once() -> None:
    rest = (Unit("b", "may", 1, 0, "line", 1, 1),)
    found = Units((Unit("a", "must", 0, 0, "line", 0, 1),), 2, rest=lambda: rest).complete()

    assert ([unit.text for unit in found.units], list(found.rest())) == (["a", "b"], [])

from compression.engine.tool_output import cleaned


def test_a_wrapper_is_opened_and_its_status_kept() -> None:
    source = cleaned('{"output": "a\\nb", "exit_code": 1, "stderr": "c"}')

    assert source.lines == ("a", "b", "c")
    assert source.status == ("exit_code: 1",)


def test_a_status_in_the_metadata_of_a_wrapper_is_kept() -> None:
    assert cleaned('{"output": "a", "metadata": {"exit_code": 0, "duration": 1.5}}').status == ("exit_code: 0",)


def test_a_record_with_a_field_named_text_is_no_wrapper() -> None:
    text = '{"text": "a", "id": 5}'

    assert cleaned(text).lines == (text,)


def test_colours_go() -> None:
    assert cleaned("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain").lines == ("red plain",)


def test_a_progress_bar_is_its_last_state() -> None:
    assert cleaned("10 %\r50 %\r100 %\ndone\r\n").lines == ("100 %", "done")


def test_a_reminder_at_the_end_is_taken_off_and_counted() -> None:
    source = cleaned("body\n\n<system-reminder>\none\n</system-reminder>\n")

    assert (source.lines, source.reminder_lines) == (("body",), 3)


def test_a_reminder_in_the_middle_is_text() -> None:
    text = "a\n<system-reminder>x</system-reminder>\nb"

    assert cleaned(text).lines == tuple(text.split("\n"))


def test_line_numbers_are_a_gutter_and_shown_with_their_line() -> None:
    source = cleaned("     9\u2192first\n    10\u2192\n    11\u2192third")

    assert source.lines == ("first", "", "third")
    assert source.shown(2) == "11\u2192third"


def test_lines_that_only_begin_with_digits_have_no_gutter() -> None:
    text = "12:30 lunch\n11:00 call\n13:00 walk"

    assert cleaned(text).lines == tuple(text.split("\n"))

from compression.engine.fidelity import fidelity


def test_names_and_numbers_of_the_original_hold() -> None:
    assert fidelity("src/app.py:12: KeyError in load_user", "KeyError at src/app.py:12", ()) == (3, 3, [])


def test_an_invented_number_is_told() -> None:
    assert fidelity("7 lines", "8 lines", ()) == (0, 1, ["8"])


def test_a_listed_count_holds_and_its_digits_are_not_read_apart() -> None:
    assert fidelity("some text", "... 1,234 lines omitted", {"1,234"}) == (1, 1, [])


def test_a_cut_name_is_told() -> None:
    assert fidelity("my_long_name", "my_long", ()) == (0, 1, ["my_long"])


def test_names_inside_a_json_wrapper_hold() -> None:
    original = '{"output": "one\\nfoo_bar failed\\n\\u001b[31mbaz_qux\\u001b[0m", "exit_code": 1}'

    assert fidelity(original, "exit_code: 1\nfoo_bar failed\nbaz_qux", ()) == (3, 3, [])


def test_an_empty_stub_claims_nothing() -> None:
    assert fidelity("abc", "", ()) == (0, 0, [])

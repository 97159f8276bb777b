"""A short session of a coding agent, for docs/engine.md: a file read twice, a large write, a failing test, a plan."""

from __future__ import annotations

import json
from dataclasses import replace

from compression.engine.tokens import default_counter
from compression.engine.transcript import Part, Transcript
from tests.compression.engine.builders import SessionBuilder

CART = "def total(lines):\n    return sum(line.net for line in lines)"
TAX = '"""Taxes of the shop."""\n\nfrom decimal import Decimal\n\n' + "\n".join(
    f'\ndef tax_of_{country}(net: Decimal) -> Decimal:\n    """Tax in {country.title()}."""\n'
    f'    return net * Decimal("0.{rate}")\n'
    for country, rate in (("austria", 20), ("denmark", 25), ("finland", 24), ("germany", 19), ("italy", 22))
)
ROUNDING = '"""Rounds money to whole cents."""\n\nfrom decimal import ROUND_HALF_UP, Decimal\n\n' + "\n".join(
    f'\ndef {name}(value: Decimal) -> Decimal:\n    return value.quantize(Decimal("{step}"), ROUND_HALF_UP)\n'
    for name, step in (("to_cents", "0.01"), ("to_nickels", "0.05"), ("to_dimes", "0.10"), ("to_units", "1.00"))
)
FAILED = (
    "============================= test session starts ==============================\ncollected 41 items\n\n"
    + "\n".join(f"tests/test_cart.py::test_line_{n} PASSED" for n in range(40))
    + "\ntests/test_cart.py::test_total FAILED\n\n"
    "=================================== FAILURES ===================================\n"
    "__________________________________ test_total __________________________________\n\n"
    "    def test_total():\n>       assert total(cart) == Decimal('19.99')\n"
    "E       AssertionError: assert Decimal('19.98') == Decimal('19.99')\n\n"
    "tests/test_cart.py:52: AssertionError\n"
    "=========================== short test summary info ============================\n"
    "FAILED tests/test_cart.py::test_total - AssertionError: assert Decimal('19.98') == Decimal('19.99')\n"
    "========================= 1 failed, 40 passed in 0.81s =========================\nexit code: 1"
)
THOUGHT = (
    "The total is one cent too low. Every line is rounded down before the sum, so the cents that each line loses add "
    "up. Rounding once, after the sum, would give 19.99. The tax is taken from the net value of each line as well, and "
    "the same happens there. I look at the taxes again before I change how the cart adds its lines."
)


def shop_session() -> Transcript:
    """The session, counted by the reference tokenizer."""
    shop = SessionBuilder(default_counter())
    shop.system("You are a careful engineer. Never push to main.")
    shop.user("Fix the rounding of totals in src/cart.py. Do not touch the database.")
    _call(shop, "Read", CART, file_path="/srv/shop/src/cart.py")
    _call(shop, "Read", TAX, text="The taxes may be part of it.", file_path="/srv/shop/src/tax.py")
    _call(shop, "Write", "file written", file_path="/srv/shop/src/rounding.py", content=ROUNDING)
    _call(shop, "Bash", FAILED, text="One test fails.", command="pytest -q tests/test_cart.py", thought=THOUGHT)
    _call(shop, "Read", TAX, text="The taxes again.", file_path="/srv/shop/src/tax.py")
    plan = [
        {"content": "round once, after the sum", "status": "in_progress"},
        {"content": "round the taxes", "status": "pending"},
        {"content": "read the code", "status": "completed"},
    ]
    _call(shop, "TodoWrite", "list updated", todos=plan)
    shop.user("Go on, please. The report must keep its columns.")
    change = {"old_string": "sum(", "new_string": "to_cents(sum("}
    _call(shop, "Edit", "file edited", text="I round after the sum.", file_path="/srv/shop/src/cart.py", **change)
    shop.turn(text="The cart is changed, the taxes come next.")
    return shop.build()


def _call(
    shop: SessionBuilder, tool: str, result: str, *, text: str = "", thought: str = "", **arguments: object
) -> None:
    call = f"toolu_{len(shop.turns):02}"
    shop.turn(Part("tool_result", result, call, tool), text=text, arguments=json.dumps(arguments))
    if thought:
        at = shop.turns[-1].request_end
        shop.messages[at] = replace(shop.messages[at], parts=(Part("thinking", thought), *shop.messages[at].parts))

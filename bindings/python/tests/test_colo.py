"""The package without a platform: python3 -m unittest discover bindings/python/tests."""

import importlib.util
import pathlib
import sys
import unittest
from typing import Any

import colo
from colo import _colo

HAS_NUMPY = importlib.util.find_spec("numpy") is not None


class Hears(colo.Strategy):
    """Keeps what it hears, against the rules."""

    views: list[colo.Quote] = []
    copies: list[colo.Quote] = []
    contexts: list[colo.Context] = []

    def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
        self.views.append(quote)
        self.copies.append(quote.copy())
        self.contexts.append(ctx)


class Views(unittest.TestCase):
    def test_a_view_raises_beyond_its_call_and_a_copy_stays(self) -> None:
        Hears.views.clear()
        _colo.drive(Hears, 3, 1)
        self.assertEqual(len(Hears.views), 4)
        for view in Hears.views:
            with self.assertRaisesRegex(RuntimeError, "copy"):
                view.sequence
            self.assertIn("ended", repr(view))
        self.assertEqual([copy.sequence for copy in Hears.copies[1:]], [0, 1, 2])
        self.assertEqual(Hears.copies[0].bids[0], (colo.price("10"), 100))
        self.assertEqual(Hears.copies[0].bid_price, colo.price("10.00"))
        self.assertEqual(Hears.copies[0].ask_price, colo.price("10.01"))
        self.assertIn("ask", repr(Hears.copies[0]))
        with self.assertRaisesRegex(RuntimeError, "during"):
            Hears.contexts[0].now()

    def test_no_event_leaves_memory_behind(self) -> None:
        class Reads(colo.Strategy):
            def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
                quote.bid_price + quote.ask_price

        _colo.drive(Reads, 1_000, 1)
        before = sys.getallocatedblocks()
        _colo.drive(Reads, 50_000, 1)
        self.assertLess(sys.getallocatedblocks() - before, 100)

    def test_what_a_strategy_raises_reaches_whoever_drives_it(self) -> None:
        class Refuses(colo.Strategy):
            def __init__(self, quantity: int = 0) -> None:
                raise ValueError("quantity must be at least 1")

        with self.assertRaisesRegex(RuntimeError, "at least 1"):
            _colo.drive(Refuses, 1, 1)


@unittest.skipUnless(HAS_NUMPY, "numpy is missing")
class Arrays(unittest.TestCase):
    def test_quotes_that_wait_come_together_and_a_kept_array_does_not_change(self) -> None:
        kept: list[Any] = []
        singles: list[int] = []

        class Batches(colo.Strategy):
            def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
                singles.append(quote.sequence)

            def on_quotes(self, ctx: colo.Context, quotes: Any, /) -> None:
                kept.append(quotes)

        _colo.drive(Batches, 201, 10)
        self.assertEqual([len(array) for array in kept[1:]], [10] * 19)
        self.assertEqual(singles[-1], 200)
        heard = [int(number) for array in kept for number in array["sequence"]]
        self.assertEqual(heard[1:], list(range(200)))
        self.assertEqual(kept[1]["bids"]["price"][0][0], colo.price("10"))
        with self.assertRaises(ValueError):
            kept[1]["sequence"][0] = 7

    def test_the_type_of_a_message_is_as_large_as_it(self) -> None:
        self.assertEqual(colo._colo.dtype(colo.Quote).itemsize, 368)
        self.assertEqual(colo.dtype(colo.Instrument)["symbol"].kind, "S")


class Stubs(unittest.TestCase):
    def test_the_stubs_are_those_of_the_table_of_fields(self) -> None:
        path = pathlib.Path(__file__).parent.parent / "python" / "colo" / "_messages.pyi"
        self.assertEqual(path.read_text(), _colo.stubs(), "write colo._colo.stubs() to _messages.pyi")

    def test_every_class_of_the_stubs_is_there(self) -> None:
        for line in _colo.stubs().splitlines():
            if line.startswith("class "):
                name = line[6:].split("(")[0].rstrip(":")
                self.assertTrue(hasattr(colo, name), name)

    def test_prices_are_exact(self) -> None:
        self.assertEqual(colo.price("10.25"), 10_250_000_000)
        self.assertEqual(colo.price_text(colo.price("0.1")), "0.1")
        self.assertEqual(colo.price_text(colo.NO_PRICE), "-")
        with self.assertRaises(ValueError):
            colo.price("0.0000000001")


if __name__ == "__main__":
    unittest.main()

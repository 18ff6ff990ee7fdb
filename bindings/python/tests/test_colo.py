"""The package without a platform: python3 -m unittest discover bindings/python/tests."""

import importlib.util
import itertools
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from decimal import Decimal
from typing import Any

import colo
from colo import _colo, kungfu
from colo.kungfu import constants
from colo.kungfu import time as kungfu_time
from colo.kungfu._adapter import adapted
from colo.testing import Harness

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"

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
        Hears.copies.clear()
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

    def test_no_event_allocates(self) -> None:
        class Hearing(colo.Strategy):
            def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
                pass

            def on_best(self, ctx: colo.Context, instrument: int, best: colo.Best, /) -> None:
                pass

        class Batches(colo.Strategy):
            def on_quotes(self, ctx: colo.Context, quotes: Any, /) -> None:
                pass

        Hears.copies.clear()
        _colo.drive(Hears, 1, 1)
        recorded = Hears.copies[0]

        def blocks(strategy: type[colo.Strategy], data: str, count: int) -> int | None:
            harness = Harness(strategy, data=data)
            harness.list("SIM001")
            harness.start()

            def feed() -> None:
                for _ in itertools.repeat(None, count):
                    harness.publish(recorded)
                    harness.turn()

            feed()
            counted = _colo.count_allocations(feed)
            return None if counted is None else counted[0]

        for strategy, data in ((Hearing, "depth"), (Hearing, "best"), *([(Batches, "depth")] if HAS_NUMPY else [])):
            few, many = blocks(strategy, data, 10), blocks(strategy, data, 1_000)
            self.assertEqual(few, many, (strategy, data))

        def read() -> None:
            for _ in itertools.repeat(None, 1_000):
                recorded.ask_price

        counted = _colo.count_allocations(read)
        self.assertTrue(counted is None or counted[0] >= 1_000, "it counts: a price is an int of the interpreter")

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

    def test_columns_are_flat_and_show_the_same(self) -> None:
        import numpy

        Hears.copies.clear()
        _colo.drive(Hears, 3, 1)
        array = numpy.zeros(2, colo.dtype(colo.Quote))
        array["asks"]["price"][:, 1] = [7, 8]
        found = colo.columns(array)
        self.assertEqual(list(found["ask_price_1"]), [7, 8])
        self.assertEqual(len(found["bid_quantity_9"]), 2)
        self.assertTrue(all(column.ndim == 1 for column in found.values()))
        array = numpy.zeros(1, colo.dtype(colo.Instrument))
        array["symbol"] = b"SIM001"
        self.assertEqual(list(colo.columns(array)["symbol"]), ["SIM001"])

    def test_the_type_of_a_message_is_as_large_as_it(self) -> None:
        self.assertEqual(colo._colo.dtype(colo.Quote).itemsize, 368)
        self.assertEqual(colo.dtype(colo.Instrument)["symbol"].kind, "S")


class Buyer(colo.Strategy):
    """Buys a lot at the ask, once; asks again after a second if td was behind."""

    def __init__(self, lots: int = 1) -> None:
        self.lots = lots
        self.fills: list[tuple[int, int]] = []

    def on_start(self, ctx: colo.Context, /) -> None:
        ctx.set_timer(after=1_000_000_000, key=7)

    def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
        instrument = ctx.instrument(quote.instrument)
        if instrument is not None and not ctx.working_orders():
            ctx.order(colo.Side.BUY, quote.instrument, self.lots * instrument.lot, quote.ask_price)

    def on_fill(self, ctx: colo.Context, fill: colo.Fill, /) -> None:
        self.fills.append((fill.price, fill.quantity))

    def on_timer(self, ctx: colo.Context, timer: colo.Timer, /) -> None:
        if timer.key != 7 or ctx.now() < timer.due:
            raise AssertionError("it is not due")
        ctx.cancel_all()


class Testing(unittest.TestCase):
    def test_a_strategy_is_driven_step_by_step_and_its_orders_are_read(self) -> None:
        harness = Harness(Buyer, {"lots": 3})
        instrument = harness.list("SIM001", "0.01", 100)
        harness.start()
        harness.quote(instrument, "9.99", "10.01", 300)
        (order,) = harness.sent()
        assert isinstance(order, colo.NewOrder)
        self.assertEqual((order.price, order.quantity, order.side), (colo.price("10.01"), 300, colo.Side.BUY))
        self.assertEqual(harness.sent(), [])
        harness.accept(order)
        self.assertTrue(harness.working_orders()[0].accepted)
        harness.fill(order, "10.00", 100)
        self.assertEqual(harness.position(instrument).quantity, 100)
        harness.fill(order)
        self.assertEqual(harness.strategy.fills, [(colo.price("10"), 100), (colo.price("10.01"), 200)])
        self.assertEqual((harness.position(instrument).quantity, harness.working_orders()), (300, []))
        harness.book(instrument, [("9.98", 100)], [("10.02", 50), ("10.03", 70)])
        (order,) = harness.sent()
        assert isinstance(order, colo.NewOrder)
        harness.update(order, colo.OrderStatus.REJECTED, colo.Reason.POSITION_LIMIT)
        self.assertEqual(harness.working_orders(), [])
        before = harness.now
        harness.advance(1_000_000_000)
        self.assertEqual(harness.now, before + 1_000_000_000)
        self.assertIsInstance(harness.sent()[0], colo.CancelAll)
        harness.stop()

    def test_the_same_events_give_the_same_orders(self) -> None:
        def run() -> list[tuple[int, int]]:
            harness, found = Harness(Buyer, deterministic=True), []
            instrument = harness.list("SIM001")
            harness.start()
            for step in range(50):
                harness.book(instrument, [(10**9 - step, 5)], [(10**9 + step, 5)])
                for order in harness.sent():
                    assert isinstance(order, colo.NewOrder)
                    found.append((order.order_id, order.price))
                    harness.fill(order)
            return found

        first = run()
        self.assertEqual(len(first), 50)
        self.assertEqual(first, run())

    def test_what_a_strategy_raises_is_raised_by_the_call_and_ends_it(self) -> None:
        harness = Harness(Buyer)
        instrument = harness.list("SIM001")
        harness.start()
        harness.set_full(True)
        with self.assertRaises(colo.OrderError) as raised:
            harness.quote(instrument, "9.99", "10.01", 300)
        self.assertEqual(raised.exception.refusal, "full")
        with self.assertRaisesRegex(RuntimeError, "has ended"):
            harness.start()
        with self.assertRaisesRegex(TypeError, "lot"):
            Harness(Buyer, {"lot": 3})
        _colo.drive(Hears, 1, 1)
        with self.assertRaisesRegex(TypeError, "NewOrder"):
            Harness(Buyer).accept(Hears.copies[0])  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "no price"):
            Harness(Buyer).quote(1, "cheap", None, 1)


class Kungfu(unittest.TestCase):
    """The example in Kungfu's shape, which is the documented one in other words."""

    def harness(self) -> tuple[Harness, list[int]]:
        strategy = kungfu.load_strategy(EXAMPLES / "kungfu" / "demo.py", symbols={"600000": "SIM001", "600001": "SIM002"})
        harness = Harness(strategy)
        return harness, [harness.list(symbol, "0.01", 100) for symbol in ("SIM001", "SIM002", "SIM003")]

    def test_it_buys_at_the_last_price_and_takes_back_what_does_not_trade(self) -> None:
        harness, (first, second, _) = self.harness()
        harness.start()
        harness.quote(first, "10.00", "10.03", 500)
        (order,) = harness.sent()
        assert isinstance(order, colo.NewOrder)
        self.assertEqual((order.instrument, order.price, order.quantity), (first, colo.price("10.01"), 200))
        harness.accept(order)
        context = harness.strategy.context
        self.assertEqual(context.book.orders[order.order_id].status, constants.OrderStatus.Pending)
        harness.fill(order, quantity=50)
        known = context.book.orders[order.order_id]
        self.assertEqual((known.status, known.volume_left), (constants.OrderStatus.PartialFilledActive, 150))
        harness.quote(second, "20.00", "20.02", 500)
        (other,) = harness.sent()
        assert isinstance(other, colo.NewOrder)
        harness.fill(other)
        harness.advance(3_000_000_000)
        (cancel,) = harness.sent()
        assert isinstance(cancel, colo.CancelOrder)
        self.assertEqual(cancel.order_id, order.order_id, "what has traded is not taken back")
        harness.update(order, colo.OrderStatus.CANCELLED, colo.Reason.REQUESTED)
        self.assertEqual((known.status, known.volume_left), (constants.OrderStatus.PartialFilledNotActive, 150))
        self.assertEqual([trade.volume for trade in context.book.trades.values()], [50, 200])
        harness.stop()

    def test_a_position_that_is_large_enough_is_seen_in_the_book(self) -> None:
        harness, (first, *_) = self.harness()
        harness.start()
        for _ in range(12):
            harness.quote(first, "10.00", "10.01", 500)
            for order in harness.sent():
                assert isinstance(order, colo.NewOrder)
                harness.fill(order)
        self.assertEqual(harness.position(first).quantity, 2000)

    def test_what_is_not_there_says_so(self) -> None:
        module = types.ModuleType("asks")

        def on_quote(context: Any, quote: Any, location: Any) -> None:
            asked(context, quote, location)

        for name, wrong in (
            ("open_interest", lambda context, quote, location: quote.open_interest),
            ("static_data", lambda context, quote, location: context.static_data),
            ("commissions", lambda context, quote, location: context.book.commissions),
            ("avail", lambda context, quote, location: context.book.asset.avail),
        ):
            asked: Any = wrong
            vars(module)["on_quote"] = on_quote
            harness = Harness(adapted(module, {}, {}))
            instrument = harness.list("SIM001")
            harness.start()
            with self.assertRaisesRegex(AttributeError, f"`(context.)?{name}`"):
                harness.quote(instrument, "1.00", "1.01", 1)

    def test_an_order_that_cannot_be_is_zero_and_a_cancel_too(self) -> None:
        harness, (first, *_) = self.harness()
        harness.start()
        ids: list[int] = []

        def on_quote(context: Any, *_: Any) -> None:
            insert, k = context.insert_order, constants
            names = ("600000", "SSE", "sim", "10001", 1.0, 100)
            ids.append(insert("600009", *names[1:]))
            ids.append(insert("600000", "SZE", *names[2:]))
            ids.append(insert("600000", "SSE", "sim", "1", 1.0, 100))
            ids.append(insert(*names, k.PriceType.AtAuction))
            ids.append(insert(*names, k.PriceType.Limit, k.Side.Lock))
            ids.append(context.cancel_order(12345))
            ids.append(insert(*names, k.PriceType.Any, k.Side.Sell))

        harness.strategy.call["on_quote"] = on_quote
        harness.quote(first, "10.00", "10.01", 500)
        self.assertEqual(ids[:6], [0] * 6)
        (order,) = harness.sent()
        assert isinstance(order, colo.NewOrder)
        self.assertEqual((ids[6], order.order_type), (order.order_id, colo.OrderType.MARKET))

    def test_without_a_subscription_it_reads_what_the_platform_says_and_subscribes_later_by_name(self) -> None:
        module = types.ModuleType("all")
        heard: list[tuple[str, str]] = []
        ids: list[int] = []

        def pre_start(context: Any) -> None:
            context.add_account("sim", "1")
            context.subscribe_all("sim")

        def on_quote(context: Any, quote: Any) -> None:
            heard.append((quote.exchange_id, quote.instrument_id))
            ids.append(context.insert_order(quote.instrument_id, "SSE", "sim", "1", quote.ask_price[0], 1))

        vars(module).update(pre_start=pre_start, on_quote=on_quote)
        harness = Harness(adapted(module, {"A": "SIM001"}, {}))
        first, second = harness.list("SIM001"), harness.list("B")
        harness.start()
        harness.quote(first, "1.00", "1.01", 1)
        harness.quote(second, "1.00", "1.01", 1)
        context = harness.strategy.context
        self.assertEqual(heard, [("", "A"), ("", "B")])
        self.assertTrue(all(ids), ids)
        self.assertEqual(list(context.book.instruments), [("", "A"), ("", "B")])

        def subscribes(context: Any, *_: Any) -> None:
            context.subscribe("sim", ["B", "C"], "SSE")
            heard.extend(context.book.instruments)

        harness.strategy.call["on_quote"] = subscribes
        harness.quote(first, "1.00", "1.02", 1)
        self.assertEqual(heard[2:], [("", "A"), ("SSE", "B")])

    def driven(self, pre_start: Any = None) -> tuple[Any, list[str], Harness]:
        """A strategy that may trade SIM001, and the lines of its log."""
        module = types.ModuleType("driven")
        lines: list[str] = []

        def prepare(context: Any) -> None:
            context.log.write = lines.append
            context.add_account("sim", "1")
            context.subscribe("sim", ["SIM001"], "SSE")
            if pre_start is not None:
                pre_start(context)

        def post_start(context: Any) -> None:
            context.log.write = lines.append

        vars(module).update(pre_start=prepare, post_start=post_start)
        harness = Harness(adapted(module, {}, {}))
        harness.list("SIM001", "0.01", 1)
        return harness.strategy.context, lines, harness

    def inside(self, harness: Harness, call: Any) -> Any:
        """What a call in `post_start` returns: the platform is known there."""
        found: list[Any] = []
        before = harness.strategy.call["post_start"]

        def post_start(context: Any) -> None:
            before(context)
            found.append(call(context))

        harness.strategy.call["post_start"] = post_start
        harness.start()
        return found[0]

    def test_a_price_that_is_no_number_is_zero_and_a_line(self) -> None:
        wrong = ["100.0", None, float("nan"), float("inf"), -float("inf"), 1e30, 10**30, Decimal("NaN"), [1.0], True]

        def send(context: Any) -> list[int]:
            return [context.insert_order("SIM001", "SSE", "sim", "1", price, 1) for price in (*wrong, 10, Decimal("9.5"))]

        _, lines, harness = self.driven()
        ids = self.inside(harness, send)
        self.assertEqual(ids[:-2], [0] * len(wrong))
        self.assertEqual(len([line for line in lines if "is no price" in line]), len(wrong), lines)
        prices = [order.price for order in harness.sent() if isinstance(order, colo.NewOrder)]
        self.assertEqual(prices, [colo.price("10"), colo.price("9.5")])

    def test_a_volume_that_is_no_whole_number_is_zero_and_a_line(self) -> None:
        wrong = [1.5, "3", None, float("nan"), float("inf"), 10**30, True]

        def send(context: Any) -> list[int]:
            return [context.insert_order("SIM001", "SSE", "sim", "1", 10.0, volume) for volume in (*wrong, 0, -1, 3, 4.0)]

        _, lines, harness = self.driven()
        ids = self.inside(harness, send)
        self.assertEqual(ids[:-2], [0] * (len(wrong) + 2))
        self.assertEqual(len([line for line in lines if "is no volume" in line]), len(wrong), lines)
        self.assertEqual([order.quantity for order in harness.sent() if isinstance(order, colo.NewOrder)], [3, 4])

    def test_an_interval_that_is_none_sets_no_timer(self) -> None:
        fired: list[int] = []

        def add(context: Any) -> list[int]:
            call = lambda *_: fired.append(1)  # noqa: E731
            timers = [context.add_time_interval(interval, call) for interval in (0, -5, "1", 1.5, None, float("nan"))]
            return [*timers, context.add_timer(-1, call), context.add_timer("soon", call)]

        early: list[int] = []
        _, lines, harness = self.driven(lambda context: early.extend(add(context)))
        late = self.inside(harness, add)
        harness.advance(1_000_000_000)
        self.assertEqual((early, late, fired), ([0] * 8, [0] * 8, []))
        self.assertEqual(len([line for line in lines if "no timer was set" in line]), 16, lines)

    def test_a_cancel_of_what_is_no_order_is_zero_and_a_line(self) -> None:
        _, lines, harness = self.driven()
        self.assertEqual(self.inside(harness, lambda context: [context.cancel_order(id) for id in ("1", None, -1)]), [0] * 3)
        self.assertEqual(len([line for line in lines if "cancel_order" in line]), 3, lines)

    def test_a_coroutine_and_a_missing_file_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "waits.py"
            with self.assertRaisesRegex(FileNotFoundError, "waits.py"):
                kungfu.load_strategy(path)
            path.write_text("async def on_quote(context, quote, location):\n    pass\n")
            with self.assertRaisesRegex(TypeError, "coroutine"):
                kungfu.load_strategy(path)

    def test_times_are_texts_and_back(self) -> None:
        nano = kungfu_time.strptime("2022-11-25 11:04:01.")
        self.assertEqual(kungfu_time.strftime(nano + 7), "2022-11-25 11:04:01.000000007")
        self.assertEqual(kungfu_time.strptime("2022-11-25 11:04:01.25"), nano + 250_000_000)


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

    def test_a_price_beyond_what_an_order_takes_is_refused_at_once(self) -> None:
        most = "9223372036.854775807"
        self.assertEqual(colo.price(most), 2**63 - 1)
        self.assertEqual(colo.price(f"-{most}"), -(2**63) + 1)
        for text in ("99999999999999", "9223372036.854775808", "-9223372036.854775808", "1e30", "1e999999999"):
            with self.assertRaises(OverflowError, msg=text):
                colo.price(text)


class Programs(unittest.TestCase):
    """Programs of their own, asked whether they take their parameters: that needs no platform."""

    def asked(self, text: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "kungfu_one.py").write_text("def pre_start(context):\n    context.accounts['1']\n")
            path = pathlib.Path(folder) / "program.py"
            path.write_text(f"import sys\nimport colo\nfrom colo import kungfu\n{text}\n")
            words = [sys.executable, str(path), "--check-params"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=600)
            return done.returncode, done.stdout

    def test_what_was_raised_before_the_start_is_said_with_its_function(self) -> None:
        code, said = self.asked("kungfu.run('kungfu_one.py')")
        self.assertEqual(code, 2)
        self.assertIn("`pre_start` raised AttributeError: `context.accounts`", said)
        one = "class One(colo.Strategy):\n    def __init__(self, size=1):\n        {}\ncolo.run(One)"
        self.assertIn("`__init__` raised KeyError: 'x'", self.asked(one.format("{}['x']"))[1])
        code, said = self.asked("class One(colo.Strategy):\n    def __init__(self, size):\n        pass\ncolo.run(One)")
        self.assertEqual(code, 2)
        self.assertIn("`params` are not what the strategy takes: TypeError", said)

    def test_the_code_of_an_exit_is_that_of_the_program(self) -> None:
        one = "class One(colo.Strategy):\n    def __init__(self):\n        {}\ncolo.run(One)"
        for leaves, code in (("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('why')", 1), ("raise ValueError", 2)):
            self.assertEqual(self.asked(one.format(leaves))[0], code, leaves)


class Journals(unittest.TestCase):
    def test_a_name_that_would_be_another_path_is_refused(self) -> None:
        for name in ("../t", "./t", "a/t", "", ".t", "T", "t" * 64):
            with self.assertRaisesRegex(ValueError, "no name of a journal", msg=name):
                _colo.Journal("/dev/shm", name)
            with self.assertRaisesRegex(ValueError, "no name of a journal", msg=name):
                colo.open(name, instance="first")


if __name__ == "__main__":
    unittest.main()

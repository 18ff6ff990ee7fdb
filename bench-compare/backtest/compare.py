#!/usr/bin/env python3
"""colo, hftbacktest and nautilus_trader on the same recorded day, in turns: how long each takes from the first row to the last.

    python3 -m venv V && V/bin/pip install hftbacktest nautilus_trader
    V/bin/python compare.py --colo target/release/colo --day message.csv.gz

The day is a LOBSTER message file (plain or .gz). The strategy is the same everywhere: when the best bid or ask changes in price
or size, it sends an immediate-or-cancel order of one share at the other side's best price, buying and selling in turns. No
latency, no fees. What cannot be measured is named, and the rest goes on.

What is in the time. colo: reading and parsing the file, the book from its rows, the quotes, strategy, checks, matching and
ledger. The others get the rows as arrays or objects that were made before (from the same rows), without the file. Python's start,
imports and compilation (numba: a first run that does not count) are not in it. CPU seconds are those of the same part; of colo those
of the whole command. On a host that does something else only they can be compared.
"""

import argparse
import gzip
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

START_OF_DAY = 1_340_236_800_000_000_000  # 2012-06-21 in UTC; any day does
PLATFORM = """
[platform]
instance = "compare-backtest"
runs = ""
[md]
source = "lobster"
files = "{day}"
readers = "gated"
[matching]
fill = "book"
[td]
price_band = 0
[[strategies.group]]
name = "taker"
program = "builtin:taker"
instruments = "all"
data = "best"
count = {strategies}
"""


def rows(path):
    """Time in ns, type, id, size, price in units of 0.0001, side (1 buy)."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="ascii")
    with opened as file:
        for line in file:
            seconds, kind, order, size, price, side = line.split(",")[:6]
            whole, _, fraction = seconds.partition(".")
            at = int(whole) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9])
            yield START_OF_DAY + at, int(kind), int(order), int(size), int(price), int(side)


def changes(path):
    """Of each row what it does to the book: (time, "add" | "change" | "delete" | "trade", id, side, price, quantity left or traded)."""
    resting = {}
    for at, kind, order, size, price, side in rows(path):
        if kind == 1:
            resting[order] = [side, price, size]
            yield at, "add", order, side, price, size
            continue
        if kind in (4, 5):
            yield at, "trade", order, side, price, size
        if kind not in (2, 3, 4) or order not in resting:
            continue
        known = resting[order]
        known[2] -= known[2] if kind == 3 else size
        if known[2] <= 0:
            del resting[order]
            yield at, "delete", order, known[0], known[1], 0
        else:
            yield at, "change", order, known[0], known[1], known[2]


class Colo:
    name = "colo"

    def __init__(self, program, day, strategies):
        self.program = os.path.abspath(program)
        said = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        self.version = said.stdout.split()[-1]
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "platform.toml")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(PLATFORM.format(day=os.path.abspath(day), strategies=strategies))

    def run(self):
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [self.program, "up", self.file, "--no-out", "--format", "json"]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        whole, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if said.returncode != 0:
            raise RuntimeError(said.stderr.strip() or "it failed")
        report = json.loads(said.stdout)
        # "one process: 85,896 market events in 0.25 s, 340,000 a second"
        line = next(line for line in said.stderr.splitlines() if "market events in" in line)
        seconds = float(line.split(" in ")[1].split(" s")[0])
        events = int(line.split(":")[1].split()[0].replace(",", ""))
        return {"seconds": seconds, "whole": whole, "cpu": cpu, "events": events,
                "orders": report["orders"], "fills": report["fills"]}


class Hftbacktest:
    name = "hftbacktest"

    def __init__(self, day):
        import hftbacktest as hft
        import numpy as np
        from numba import njit

        self.version = importlib.metadata.version("hftbacktest")
        self.hft = hft
        both = hft.EXCH_EVENT | hft.LOCAL_EVENT
        levels, events = {}, []
        orders = {}

        def event(kind, side, at, price, quantity):
            flag = hft.BUY_EVENT if side == 1 else hft.SELL_EVENT
            events.append((kind | flag | both, at, at, price / 10_000, quantity, 0, 0, 0.0))

        for at, what, order, side, price, quantity in changes(day):
            if what == "trade":
                # The aggressor's side.
                event(hft.TRADE_EVENT, -side, at, price, quantity)
                continue
            level = (side, price)
            levels[level] = levels.get(level, 0) + quantity - orders.get(order, 0)
            orders[order] = quantity
            event(hft.DEPTH_EVENT, side, at, price, levels[level])
        self.data = np.array(events, dtype=hft.event_dtype)

        @njit
        def takes(hbt):
            sent, feeds, side = 0, 0, 1
            seen_bid, seen_ask, seen_bid_qty, seen_ask_qty = -1, -1, -1.0, -1.0
            while True:
                outcome = hbt.wait_next_feed(False, 1_000_000_000_000_000)
                if outcome == 1:
                    break
                feeds += 1
                depth = hbt.depth(0)
                bid, ask = depth.best_bid_tick, depth.best_ask_tick
                bid_qty, ask_qty = depth.best_bid_qty, depth.best_ask_qty
                if (bid == seen_bid and ask == seen_ask and bid_qty == seen_bid_qty and ask_qty == seen_ask_qty):
                    continue
                seen_bid, seen_ask, seen_bid_qty, seen_ask_qty = bid, ask, bid_qty, ask_qty
                if bid_qty <= 0 or ask_qty <= 0 or bid >= ask:
                    continue
                sent += 1
                if side == 1:
                    hbt.submit_buy_order(0, sent, depth.best_ask, 1.0, 3, 0, False)
                else:
                    hbt.submit_sell_order(0, sent, depth.best_bid, 1.0, 3, 0, False)
                side = -side
                if sent % 64 == 0:
                    hbt.clear_inactive_orders(0)
            return sent, feeds

        self.takes = takes
        self.run()  # compiles

    def run(self):
        hft = self.hft
        asset = (
            hft.BacktestAsset().data(self.data).linear_asset(1.0).constant_order_latency(0, 0)
            .risk_adverse_queue_model().partial_fill_exchange().trading_value_fee_model(0.0, 0.0)
            .tick_size(0.01).lot_size(1.0).last_trades_capacity(0)
        )
        hbt = hft.HashMapMarketDepthBacktest([asset])
        begin, cpu = time.perf_counter(), time.process_time()
        sent, feeds = self.takes(hbt)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        fills = int(hbt.state_values(0).num_trades)
        hbt.close()
        return {"seconds": seconds, "cpu": cpu, "events": len(self.data), "feeds": feeds, "orders": sent, "fills": fills}


class Nautilus:
    name = "nautilus_trader"

    def __init__(self, day):
        from nautilus_trader.model.data import BookOrder, OrderBookDelta
        from nautilus_trader.model.enums import BookAction, OrderSide, RecordFlag
        from nautilus_trader.model.identifiers import InstrumentId, Symbol, Venue
        from nautilus_trader.model.instruments import Equity
        from nautilus_trader.model.currencies import USD
        from nautilus_trader.model.objects import Price, Quantity

        self.version = importlib.metadata.version("nautilus_trader")
        self.venue = Venue("XNAS")
        self.instrument = Equity(
            instrument_id=InstrumentId(Symbol("AAPL"), self.venue), raw_symbol=Symbol("AAPL"), currency=USD,
            price_precision=2, price_increment=Price.from_str("0.01"), lot_size=Quantity.from_int(1),
            ts_event=0, ts_init=0,
        )
        actions = {"add": BookAction.ADD, "change": BookAction.UPDATE, "delete": BookAction.DELETE}
        self.data = []
        for at, what, order, side, price, quantity in changes(day):
            if what not in actions:
                continue
            made = BookOrder(OrderSide.BUY if side == 1 else OrderSide.SELL,
                             Price(price / 10_000, 2), Quantity.from_int(quantity), order)
            self.data.append(OrderBookDelta(self.instrument.id, actions[what], made, RecordFlag.F_LAST, 0, at, at))

    def run(self):
        from nautilus_trader.backtest.engine import BacktestEngine, BacktestEngineConfig
        from nautilus_trader.config import LoggingConfig, RiskEngineConfig
        from nautilus_trader.model.currencies import USD
        from nautilus_trader.model.enums import AccountType, BookType, OmsType, OrderSide, TimeInForce
        from nautilus_trader.model.objects import Money, Quantity
        from nautilus_trader.trading.strategy import Strategy

        instrument = self.instrument

        class Taker(Strategy):
            sent, fills = 0, 0

            def on_start(self):
                self.one, self.buys, self.seen = Quantity.from_int(1), True, None
                self.subscribe_order_book_deltas(instrument.id, book_type=BookType.L3_MBO)

            def on_order_book_deltas(self, deltas):
                book = self.cache.order_book(instrument.id)
                bid, ask = book.best_bid_price(), book.best_ask_price()
                if bid is None or ask is None:
                    return
                best = (bid, book.best_bid_size(), ask, book.best_ask_size())
                if best == self.seen:
                    return
                self.seen = best
                side, price = (OrderSide.BUY, ask) if self.buys else (OrderSide.SELL, bid)
                self.buys = not self.buys
                order = self.order_factory.limit(instrument.id, side, self.one, price, TimeInForce.IOC)
                self.sent += 1
                self.submit_order(order)

            def on_order_filled(self, event):
                self.fills += 1

        quiet = LoggingConfig(bypass_logging=True)
        engine = BacktestEngine(BacktestEngineConfig(logging=quiet, risk_engine=RiskEngineConfig(bypass=True), run_analysis=False))
        engine.add_venue(self.venue, OmsType.NETTING, AccountType.MARGIN, [Money(10_000_000, USD)],
                         base_currency=USD, book_type=BookType.L3_MBO, frozen_account=True)
        engine.add_instrument(instrument)
        engine.add_data(self.data)
        taker = Taker()
        engine.add_strategy(taker)
        begin, cpu = time.perf_counter(), time.process_time()
        engine.run()
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        engine.dispose()
        return {"seconds": seconds, "cpu": cpu, "events": len(self.data), "orders": taker.sent, "fills": taker.fills}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colo", default="target/release/colo", help="the program (default: %(default)s)")
    parser.add_argument("--old", help="another build of colo, measured in turns with it")
    parser.add_argument("--day", required=True, help="a LOBSTER message file, plain or .gz")
    parser.add_argument("--strategies", type=int, default=1, help="of colo only (default: %(default)s)")
    parser.add_argument("--turns", type=int, default=5, help="of each, interleaved (default: %(default)s)")
    parser.add_argument("--only", action="append", help="colo, old, hftbacktest, nautilus_trader")
    arguments = parser.parse_args()
    messages = sum(1 for _ in rows(arguments.day))

    def old():
        made = Colo(arguments.old, arguments.day, arguments.strategies)
        made.name = "old"
        return made

    makers = {
        "colo": lambda: Colo(arguments.colo, arguments.day, arguments.strategies),
        "old": old if arguments.old else None,
        "hftbacktest": lambda: Hftbacktest(arguments.day),
        "nautilus_trader": lambda: Nautilus(arguments.day),
    }
    engines, skipped = [], []
    for name, make in makers.items():
        if make is None or arguments.only and name not in arguments.only:
            continue
        try:
            engines.append(make())
        except Exception as error:  # whatever a package of another version raises
            skipped.append(f"{name}: {type(error).__name__}: {error}")
    results = {engine.name: [] for engine in engines}
    for _ in range(arguments.turns):
        for engine in engines:
            results[engine.name].append(engine.run())
    print(f"{messages:,} messages, {arguments.turns} turns; {platform.processor() or platform.machine()}, "
          f"{os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(f"{'':16}{'version':>9}{'orders':>9}{'fills':>9}{'median s':>10}{'from':>8}{'to':>8}{'CPU s':>8}"
          f"{'messages/s':>12}{'ratio':>7}")
    base = None
    for engine in engines:
        runs = results[engine.name]
        times = sorted(run["seconds"] for run in runs)
        median = statistics.median(times)
        base = base or median
        cpu = statistics.median(run["cpu"] for run in runs)
        print(f"{engine.name:16}{engine.version:>9}{runs[0]['orders']:>9,}{runs[0]['fills']:>9,}{median:>10.3f}{times[0]:>8.3f}"
              f"{times[-1]:>8.3f}{cpu:>8.3f}{messages / median:>12,.0f}{median / base:>7.1f}")
        if "whole" in runs[0]:
            whole = statistics.median(run["whole"] for run in runs)
            print(f"{'':16}the whole command: {whole:.3f} s")
    for line in skipped:
        print(f"skipped {line}")
    return 1 if len(engines) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())

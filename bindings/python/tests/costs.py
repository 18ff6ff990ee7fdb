"""What a quote takes from the SDK's session to Python, without a platform: python3 tests/costs.py [QUOTES]. The harness's own share is
the first line; take the best of several runs on a quiet host, with a wheel of `maturin build --release`."""

import sys
from typing import Any

import colo
from colo import _colo


class Nothing(colo.Strategy):
    pass


class Empty(colo.Strategy):
    def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
        pass


class Reads(colo.Strategy):
    def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
        if quote.ask_price - quote.bid_price < 0:
            raise ValueError("crossed")


class Batches(colo.Strategy):
    def on_quotes(self, ctx: colo.Context, quotes: Any, /) -> None:
        if (quotes["asks"]["price"][:, 0] < quotes["bids"]["price"][:, 0]).any():
            raise ValueError("crossed")


def blocks(strategy: type[colo.Strategy], together: int) -> str:
    """Allocations a quote: an int that is read is one, and is freed at once."""
    few, many = (
        _colo.count_allocations(lambda count=count: _colo.drive(strategy, count, together)) for count in (6_400, 64_000)
    )
    return "-" if few is None or many is None else f"{(many[0] - few[0]) / 57_600:.2f}"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    own = min(_colo.drive(Nothing, count, 64) for _ in range(5))
    print(f"{own:8.1f} ns a quote  without a method")
    for name, strategy, together in (
        ("on_quote, empty", Empty, 1),
        ("on_quote, reads two prices", Reads, 1),
        ("on_quotes of 64, compares two columns", Batches, 64),
    ):
        best = min(_colo.drive(strategy, count, together) for _ in range(5))
        print(f"{best:8.1f} ns a quote, {best - own:6.1f} without the harness, {blocks(strategy, together)} allocations  {name}")


main()

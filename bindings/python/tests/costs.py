"""What a quote takes from the SDK's session to Python, without a platform: python3 tests/costs.py [ROUNDS]. With a wheel of
`maturin build --release`, on a quiet host."""

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


class Takes(colo.Strategy):
    def on_quotes(self, ctx: colo.Context, quotes: Any, /) -> None:
        pass


class Batches(colo.Strategy):
    def on_quotes(self, ctx: colo.Context, quotes: Any, /) -> None:
        if (quotes["asks"]["price"][:, 0] < quotes["bids"]["price"][:, 0]).any():
            raise ValueError("crossed")


def blocks(strategy: type[colo.Strategy], together: int) -> str:
    """Allocations a quote: an int that is read is one, and is freed at once."""
    few = _colo.count_allocations(lambda: _colo.drive(strategy, 6_400, together))
    many = _colo.count_allocations(lambda: _colo.drive(strategy, 64_000, together))
    return "-" if few is None or many is None else f"{(many[0] - few[0]) / 57_600:.2f}"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    kinds = (
        ("without a method", Nothing, 1),
        ("on_quote, empty", Empty, 1),
        ("on_quote, reads two prices", Reads, 1),
        ("without a method, 64 together", Nothing, 64),
        ("on_quotes of 64, empty", Takes, 64),
        ("on_quotes of 64, compares two columns", Batches, 64),
    )
    # In turns, and the best of many short ones: what else the host does comes and goes.
    best = [float("inf")] * len(kinds)
    for _ in range(rounds):
        for place, (_, strategy, together) in enumerate(kinds):
            best[place] = min(best[place], _colo.drive(strategy, 12_800, together))
    own = {together: best[place] for place, (_, strategy, together) in enumerate(kinds) if strategy is Nothing}
    for (name, strategy, together), took in zip(kinds, best, strict=True):
        counted = blocks(strategy, together)
        print(f"{took:8.1f} ns a quote, {took - own[together]:6.1f} without the harness, {counted} allocations  {name}")


main()

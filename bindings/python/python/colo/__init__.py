"""Strategies and journals of colo, in Python.

    import colo

    class First(colo.Strategy):
        def on_quote(self, ctx: colo.Context, quote: colo.Quote) -> None:
            ...

    if __name__ == "__main__":
        colo.run(First)

Prices are whole numbers, billionths of the currency, and `NO_PRICE` where there is none; quantities are whole units, times are
nanoseconds since the epoch. Messages are views: they hold up to the end of the call, and `copy()` keeps one.
"""

from colo import _messages
from colo._colo import ColoError, Context, Lapped, OrderError, Position, Timer, WorkingOrder, dtype
from colo._messages import *
from colo._research import Frames, columns, open
from colo._strategy import Strategy, run
from colo._units import price, price_text

__version__ = "0.1.0"
__all__ = [
    "ColoError",
    "Context",
    "Frames",
    "Lapped",
    "OrderError",
    "Position",
    "Strategy",
    "Timer",
    "WorkingOrder",
    "columns",
    "dtype",
    "open",
    "price",
    "price_text",
    "run",
]
__all__ += _messages.__all__

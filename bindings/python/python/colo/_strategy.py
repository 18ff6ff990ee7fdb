"""What an author of strategies writes against."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from colo import _colo

if TYPE_CHECKING:
    import numpy

    from colo._colo import Context, Timer
    from colo._messages import (
        Best,
        BookEvent,
        Fill,
        Indicative,
        Instrument,
        MarketPhase,
        OrderUpdate,
        Quote,
        TradePrint,
    )


class Strategy:
    """A strategy. All its methods are called on one thread, one after the other; those that are not overridden are not called.

        on_start ─► on_instrument* ─► { on_quote | on_quotes | on_best | … | on_order | on_fill | on_timer | on_gap }* ─► on_stop

    `__init__` takes the parameters of the platform file and of `--param` as keywords: give each a default. A name that it does not
    take is an error, and so is what it raises. An exception in a method ends the node, with the traceback in its log; td cancels the
    orders that work.

    The context and the messages are valid up to the end of the call: a message that is kept raises, `copy()` makes one to keep.
    """

    def instruments(self) -> list[str] | None:
        """The symbols that the strategy reads, if it overrides the platform file. Asked once."""
        return None

    def on_start(self, ctx: Context, /) -> None:
        """Once, first: positions and working orders are those of the ledger. Orders may be sent from here on."""

    def on_instrument(self, ctx: Context, instrument: Instrument, /) -> None:
        """An instrument that it reads is listed: once for each, before its first quote."""

    def on_quote(self, ctx: Context, quote: Quote, /) -> None:
        """The book of an instrument changed, in a group with `data = "depth"`."""

    def on_quotes(self, ctx: Context, quotes: numpy.ndarray[Any, numpy.dtype[numpy.void]], /) -> None:
        """Quotes that waited together, oldest first, as numpy's records with the fields of a quote: 64 at most. A single one comes
        through `on_quote` instead, where that is overridden too. In lock-step they come one at a time. An array may be kept."""

    def on_best(self, ctx: Context, instrument: int, best: Best, /) -> None:
        """The best bid or ask of an instrument changed, in a group with `data = "best"`."""

    def on_book_event(self, ctx: Context, event: BookEvent, /) -> None:
        """An event of the order flow, in a group with `data = "flow"`."""

    def on_phase(self, ctx: Context, phase: MarketPhase, /) -> None:
        """An instrument's phase changed, in a group with `data = "flow"` on an exchange."""

    def on_indicative(self, ctx: Context, indicative: Indicative, /) -> None:
        """What an auction would trade if it ended now."""

    def on_trade(self, ctx: Context, trade: TradePrint, /) -> None:
        """The market traded."""

    def on_order(self, ctx: Context, update: OrderUpdate, /) -> None:
        """One of its orders changed state, or a request about one was refused."""

    def on_fill(self, ctx: Context, fill: Fill, /) -> None:
        """Part of one of its orders traded. The position has it already, and an `on_order` follows."""

    def on_timer(self, ctx: Context, timer: Timer, /) -> None:
        """A timer that it set is due."""

    def on_gap(self, ctx: Context, lost_bytes: int, /) -> None:
        """It was too slow for the market data and lost so many bytes of it. Orders and fills are never lost."""

    def on_stop(self, ctx: Context, /) -> None:
        """Once, at the end. What works afterwards is cancelled."""


def run(*strategies: type[Strategy], arguments: list[str] | None = None) -> NoReturn:
    """The rest of a program: reads the command line, joins the platform as the node that it or the environment names, runs the
    strategy to its end, and leaves with the exit code of the node. Once a process.

    With several classes the parameter `strategy` chooses one by its name, for each node: `params = { strategy = "Maker" }`."""
    if not strategies:
        raise TypeError("name at least one class: colo.run(First)")
    words = sys.argv if arguments is None else ["strategy", *arguments]
    code = _colo.run(list(strategies), words)
    sys.exit(code)

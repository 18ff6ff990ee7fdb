"""A module with Kungfu's functions as a strategy of the platform."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import colo
from colo.kungfu._context import Context
from colo.kungfu._shapes import Quote, Shape, Trade, Transaction

_CALLED = {"on_quote", "on_transaction", "on_order", "on_trade", "on_order_action_error"}


class OrderActionError(Shape):
    """A cancel was refused."""


def _function(module: ModuleType, name: str) -> Callable[..., object] | None:
    """With as many arguments as it takes: `location` and `dest` came with later versions of Kungfu."""
    function = getattr(module, name, None)
    if function is None:
        return None
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return function  # type: ignore[no-any-return]
    taken = sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)
    return lambda *arguments: function(*arguments[:taken])


class _Adapter(colo.Strategy):
    """Connects the functions of `module`, which a subclass for each file has."""

    module: ModuleType
    symbols: dict[str, str]
    numbers: dict[str, int]

    def __init__(self, **parameters: Any) -> None:
        self.context = Context(self.symbols, self.numbers, parameters)
        self.call = {name: _function(self.module, name) for name in (*_CALLED, "post_start", "pre_stop", "post_stop")}
        start = _function(self.module, "pre_start")
        if start is not None:
            start(self.context)

    def instruments(self) -> list[str] | None:
        if self.context._wants_all is not None:
            return None
        return list(self.context._wanted) or None

    def _say(self, name: str, *arguments: object) -> None:
        function = self.call[name]
        if function is not None:
            function(self.context, *arguments)

    def on_start(self, ctx: colo.Context, /) -> None:
        context = self.context
        context._begin(ctx)
        for name in vars(self.module):
            if name.startswith("on_") and name not in _CALLED:
                context.log.warning(f"`{name}` is never called here: docs/kungfu.md says what is")
        for instrument in ctx.instruments():
            context._list(instrument)
        for symbol, (id, _, _) in context._wanted.items():
            if ctx.by_symbol(symbol) is None:
                context.log.warning(f"{id} is not listed as {symbol} yet")
        self._say("post_start")

    def on_instrument(self, ctx: colo.Context, instrument: colo.Instrument, /) -> None:
        if instrument.id not in self.context._listed:
            self.context._list(instrument)

    def on_order(self, ctx: colo.Context, update: colo.OrderUpdate, /) -> None:
        context = self.context
        if update.status in (colo.OrderStatus.MASS_CANCELLED, colo.OrderStatus.REPLACE_REJECTED):
            return
        dest = ctx.strategy
        if update.status == colo.OrderStatus.CANCEL_REJECTED:
            known = context._orders.get(update.order_id)
            error = OrderActionError(
                order_id=update.order_id,
                external_order_id=str(update.order_id),
                error_id=int(update.reason),
                error_msg=update.reason.name.lower(),
                insert_time=context.now(),
            )
            self._say("on_order_action_error", error, None if known is None else known.location, dest)
            return
        order = context._order_of(update.order_id, update.instrument, update.side)
        order.update(update, context.now())
        self._say("on_order", order, order.location, dest)

    def on_fill(self, ctx: colo.Context, fill: colo.Fill, /) -> None:
        context = self.context
        order = context._order_of(fill.order_id, fill.instrument, fill.side)
        trade = Trade(fill, order, context.now())
        context._trades[fill.trade_id] = trade
        self._say("on_trade", trade, order.location, ctx.strategy)

    def on_timer(self, ctx: colo.Context, timer: colo.Timer, /) -> None:
        self.context._fire(timer)

    def on_stop(self, ctx: colo.Context, /) -> None:
        self._say("pre_stop")
        self._say("post_stop")


def adapted(module: ModuleType, symbols: dict[str, str], accounts: dict[str, int]) -> type[colo.Strategy]:
    """A class of its own for a module: what the module does not have is not heard."""
    more: dict[str, Any] = {"module": module, "symbols": symbols, "numbers": accounts}

    def on_quote(self: _Adapter, ctx: colo.Context, quote: colo.Quote, /) -> None:
        listed = self.context._listed[quote.instrument]
        self._say("on_quote", Quote(quote, listed), listed.location, 0)

    def on_trade(self: _Adapter, ctx: colo.Context, trade: colo.TradePrint, /) -> None:
        listed = self.context._listed[trade.instrument]
        self._say("on_transaction", Transaction(trade, listed), listed.location, 0)

    if hasattr(module, "on_quote"):
        more["on_quote"] = on_quote
    if hasattr(module, "on_transaction"):
        more["on_trade"] = on_trade
    return type(module.__name__, (_Adapter,), more)

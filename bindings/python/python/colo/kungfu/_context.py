"""The context of Kungfu's functions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import colo
from colo.kungfu import constants, time, utils
from colo.kungfu._book import Book
from colo.kungfu._log import Log
from colo.kungfu._shapes import Listed, Order, OrderInput, Shape, Trade, price_of
from colo.kungfu.constants import HedgeFlag, Offset, PriceType, Side

_SIDES = {Side.Buy: colo.Side.BUY, Side.Sell: colo.Side.SELL}
_LIFETIMES = {
    PriceType.Limit: (True, None),
    PriceType.Any: (False, None),
    PriceType.FakBest5: (False, colo.TimeInForce.IOC),
    PriceType.Fak: (True, colo.TimeInForce.IOC),
    PriceType.Fok: (True, colo.TimeInForce.FOK),
}
"""Whether the price counts, and how long the order lives."""

_MOST = 2**63 - 1
"""What the platform's numbers of 64 bits hold."""


def _billionths(price: Any) -> int | None:
    """A price as the platform has it; None for what is no number: a text, multiplied, would be repeated."""
    if isinstance(price, Decimal) and price.is_finite():
        exact: Any = price
    elif isinstance(price, Integral) and not isinstance(price, bool):
        exact = int(price)
    elif isinstance(price, Real) and not isinstance(price, bool):
        exact = float(price)
    else:
        return None
    # Not a number is not within it either.
    return round(exact * colo.PRICE_ONE) if -_MOST < exact * colo.PRICE_ONE < _MOST else None


def _whole(number: Any, least: int = -_MOST) -> int | None:
    """A whole number of at least `least`; None for anything else: half a share is not one share."""
    if isinstance(number, bool) or not isinstance(number, (Integral, float)):
        return None
    if isinstance(number, float) and not number.is_integer():
        return None
    whole = int(number)
    return whole if least <= whole <= _MOST else None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"


class Context:
    """What a strategy is handed, with its own attributes beside it. Calls of the platform are there from `post_start` on."""

    def __init__(self, symbols: dict[str, str], accounts: dict[str, int], parameters: dict[str, Any]) -> None:
        self.log = self.logger = Log()
        self.parameters = parameters
        self.constants, self.utils = constants, utils
        self.strftime, self.strptime = time.strftime, time.strptime
        self.book = Book(self, "", "")
        self._colo: colo.Context | None = None
        self._symbols, self._numbers = symbols, accounts
        self._names = {symbol: id for id, symbol in symbols.items()}
        self._accounts: dict[str, str] = {}
        self._wanted: dict[str, tuple[str, str, str]] = {}
        self._wants_all: str | None = None
        self._listed: dict[int, Listed] = {}
        self._by_name: dict[tuple[str, str], Listed] = {}
        self._orders: dict[int, Order] = {}
        self._trades: dict[int, Trade] = {}
        self._inputs: dict[int, OrderInput] = {}
        self._timers: dict[int, tuple[Callable[[Any, Any], object], int]] = {}
        self._ids: dict[int, int] = {}
        self._early: list[tuple[int, int]] = []
        self._last_timer = self._last_action = 0

    # What connects it to the platform.

    def _platform(self) -> colo.Context:
        if self._colo is None:
            raise RuntimeError("the platform is not known in `pre_start`: do this in `post_start`")
        return self._colo

    def _begin(self, platform: colo.Context) -> None:
        self._colo = platform
        self.log.write = platform.log
        for key, at in self._early:
            self._ids[key] = platform.set_timer(at=at, key=key)

    def _list(self, instrument: colo.Instrument) -> None:
        symbol = instrument.symbol
        named = self._wanted.get(symbol, (self._names.get(symbol, symbol), "", self._wants_all or ""))
        listed = Listed(instrument, *named)
        self._listed[instrument.id] = listed
        self._by_name[(listed.exchange_id, listed.instrument_id)] = listed

    def _account_state(self, account: str) -> colo.AccountState | None:
        try:
            return self._platform().account(self._numbers.get(account))
        except colo.ColoError:
            return None

    def _fire(self, timer: colo.Timer) -> None:
        callback, interval = self._timers[timer.key]
        if interval:
            self._ids[timer.key] = self._platform().set_timer(at=timer.due + interval, key=timer.key)
        else:
            del self._timers[timer.key], self._ids[timer.key]
        callback(self, Shape(gen_time=self.now(), trigger_time=timer.due))

    # Before the start.

    def add_account(self, source: str, account: str, cash_limit: float | None = None) -> None:
        self._accounts[account] = source

    def subscribe(self, source: str, instruments: list[str], exchange: str = "") -> None:
        for id in instruments:
            symbol = self._symbols.get(id, id)
            known = None if self._colo is None else self._colo.by_symbol(symbol)
            if self._colo is not None and (known is None or known.id not in self._listed):
                self.log.error(f"{id} is not read: subscribe in `pre_start`, or name it in the platform file")
                continue
            self._wanted[symbol] = (id, exchange, source)
            if known is not None:
                self._list(known)

    def subscribe_all(self, source: str, *_: Any) -> None:
        self._wants_all = source

    def hold_book(self) -> None:
        """Nothing to do: the ledger has what the strategy has traded."""

    def hold_positions(self) -> None:
        """Nothing to do: positions are always those of the strategy itself, also after it was killed."""

    def is_book_held(self) -> bool:
        return True

    def is_positions_mirrored(self) -> bool:
        return False

    # Time.

    def now(self) -> int:
        return time.now_in_nano() if self._colo is None else self._colo.now()

    def add_timer(self, nano: int, callback: Callable[[Any, Any], object]) -> int:
        at = _whole(nano, least=0)
        if at is None:
            self.log.error(f"add_timer: {nano!r} is no time in nanoseconds; no timer was set")
            return 0
        return self._add_timer(at, callback, 0)

    def add_time_interval(self, duration: int, callback: Callable[[Any, Any], object]) -> int:
        interval = _whole(duration, least=1)
        if interval is None:
            self.log.error(f"add_time_interval: {duration!r} is no interval of at least 1 ns; no timer was set")
            return 0
        return self._add_timer(self.now() + interval, callback, interval)

    def _add_timer(self, at: int, callback: Callable[[Any, Any], object], interval: int) -> int:
        self._last_timer += 1
        key = self._last_timer
        self._timers[key] = (callback, interval)
        if self._colo is None:
            self._early.append((key, at))
        else:
            self._ids[key] = self._colo.set_timer(at=at, key=key)
        return key

    def clear_timer(self, timer_id: int) -> None:
        if self._timers.pop(timer_id, None) is not None and timer_id in self._ids:
            self._platform().cancel_timer(self._ids.pop(timer_id))

    # Orders.

    def insert_order(
        self,
        instrument_id: str,
        exchange_id: str,
        source_id: str,
        account_id: str,
        limit_price: float,
        volume: int,
        price_type: PriceType = PriceType.Limit,
        side: Side = Side.Buy,
        offset: Offset = Offset.Open,
        hedge_flag: HedgeFlag = HedgeFlag.Speculation,
        is_swap: bool = False,
        block_id: int = 0,
        parent_id: int = 0,
    ) -> int:
        """Sends an order; its id, or 0 where nothing was sent: the log says why."""
        # Without a subscription nobody has said which exchange it is of.
        listed = self._by_name.get((exchange_id, instrument_id)) or self._by_name.get(("", instrument_id))
        lifetime, way = _LIFETIMES.get(price_type), _SIDES.get(side)
        price, quantity = _billionths(limit_price), _whole(volume)
        problem = None
        if self._accounts.get(account_id) != source_id:
            problem = f"there is no account {source_id}/{account_id}: add it in `pre_start`"
        elif listed is None:
            problem = f"{instrument_id} of {exchange_id} is not listed, or was not subscribed to"
        elif lifetime is None:
            problem = f"the platform has no {price_type!r}"
        elif way is None:
            problem = f"the platform has no {side!r}"
        elif is_swap or block_id:
            problem = "the platform has no swaps and no blocks"
        elif price is None:
            problem = f"{_shown(limit_price)} is no price: give a number that the platform can hold"
        elif quantity is None:
            problem = f"{_shown(volume)} is no volume: give a whole number"
        if problem is not None or listed is None or lifetime is None or way is None or price is None or quantity is None:
            self.log.error(f"insert_order {instrument_id}: {problem}")
            return 0
        counts, in_force = lifetime
        account = self._numbers.get(account_id)
        try:
            id = self._platform().order(
                way, listed.number, quantity, price if counts else None, time_in_force=in_force, account=account
            )
        except colo.OrderError as error:
            self.log.error(f"insert_order {instrument_id}: {error}")
            return 0
        order = Order(id, listed, source_id, account_id, side, self.now())
        order.limit_price, order.volume, order.volume_left = float(limit_price), quantity, quantity
        order.price_type, order.offset, order.hedge_flag, order.parent_id = price_type, offset, hedge_flag, parent_id
        self._orders[id] = order
        self._inputs[id] = OrderInput(**vars(order))
        return id

    def cancel_order(self, order_id: int) -> int:
        """Asks for an order to be cancelled; a number of the request, or 0 where nothing was sent: the log says why."""
        try:
            self._platform().cancel(order_id)
        except (colo.OrderError, TypeError, OverflowError) as error:
            self.log.error(f"cancel_order {order_id!r}: {error}")
            return 0
        self._last_action += 1
        return self._last_action

    def _order_of(self, id: int, instrument: int, side: colo.Side) -> Order:
        """One that an earlier life of the strategy has sent is not known by its account any more."""
        known = self._orders.get(id)
        if known is None:
            account, source = next(iter(self._accounts.items()), ("", ""))
            way = Side.Buy if side == colo.Side.BUY else Side.Sell
            known = self._orders[id] = Order(id, self._listed[instrument], source, account, way, self.now())
        return known

    # Accounts.

    def get_account_book(self, source: str, account: str) -> Book:
        return Book(self, source, account)

    def get_account_uid(self, source: str, account: str) -> str:
        return f"{source}/{account}"

    def req_deregister(self) -> None:
        """Ends the strategy."""
        self._platform().request_stop()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`context.{name}`: this platform does not have it; docs/kungfu.md says what it has")


__all__ = ["Context", "price_of"]

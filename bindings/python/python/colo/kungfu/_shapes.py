"""What Kungfu's functions are shown: the platform's messages under Kungfu's names, prices as floats."""

from __future__ import annotations

from typing import Any

import colo
from colo.kungfu.constants import (
    BsFlag,
    Direction,
    HedgeFlag,
    InstrumentType,
    Offset,
    OrderStatus,
    PriceType,
    Side,
    TimeCondition,
    VolumeCondition,
)

LEVELS = 10


def price_of(value: int) -> float:
    """A price as Kungfu has it: 0.0 where there is none."""
    return 0.0 if value == colo.NO_PRICE else value / colo.PRICE_ONE


class Shape:
    """Attributes by Kungfu's names. One that the platform knows nothing about is missing, which is better than a zero."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"`{name}` of {type(self).__name__}: this platform does not have it; docs/kungfu.md says what it has")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Location(Shape):
    """Where a message comes from."""

    def __init__(self, category: str, group: str, name: str) -> None:
        uname = f"{category}/{group}/{name}/live"
        super().__init__(mode="live", category=category, group=group, name=name, uname=uname, uid=hash(uname) & 0xFFFFFFFF)


class Listed(Shape):
    """An instrument, under the names of the subscription."""

    def __init__(self, instrument: colo.Instrument, id: str, exchange: str, source: str) -> None:
        super().__init__(instrument_id=id, exchange_id=exchange, instrument_type=InstrumentType.Unknown)
        self.number = instrument.id
        self.tick = instrument.tick
        self.source = source
        self.price_tick = price_of(instrument.tick)
        self.location = Location("md", source, source)


class Quote:
    """The book of an instrument; it may be kept. Lists have ten levels, 0.0 and 0 where the book has none."""

    __slots__ = ("_listed", "_quote")

    def __init__(self, quote: colo.Quote, listed: Listed) -> None:
        self._quote, self._listed = quote.copy(), listed

    @property
    def instrument_id(self) -> str:
        return str(self._listed.instrument_id)

    @property
    def exchange_id(self) -> str:
        return str(self._listed.exchange_id)

    @property
    def instrument_type(self) -> InstrumentType:
        return InstrumentType.Unknown

    @property
    def data_time(self) -> int:
        return self._quote.event_time

    @property
    def last_price(self) -> float:
        """Of the last trade; as long as the market tells of none, between the best bid and ask, on a tick."""
        quote = self._quote
        if quote.last_price not in (colo.NO_PRICE, 0):
            return price_of(quote.last_price)
        sides = [price for price in (quote.bid_price, quote.ask_price) if price != colo.NO_PRICE]
        if not sides:
            return 0.0
        tick = max(1, int(self._listed.tick))
        return price_of(sum(sides) // len(sides) // tick * tick)

    @property
    def bid_price(self) -> list[float]:
        return _padded([price_of(price) for price, _ in self._quote.bids], 0.0)

    @property
    def ask_price(self) -> list[float]:
        return _padded([price_of(price) for price, _ in self._quote.asks], 0.0)

    @property
    def bid_volume(self) -> list[int]:
        return _padded([quantity for _, quantity in self._quote.bids], 0)

    @property
    def ask_volume(self) -> list[int]:
        return _padded([quantity for _, quantity in self._quote.asks], 0)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`{name}` of Quote: this platform does not have it; docs/kungfu.md says what it has")

    def __repr__(self) -> str:
        names = ("instrument_id", "exchange_id", "data_time", "last_price", "bid_price", "ask_price", "bid_volume", "ask_volume")
        return f"Quote({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


def _padded(values: list[Any], none: Any) -> list[Any]:
    return values + [none] * (LEVELS - len(values))


class Transaction(Shape):
    """A trade of the market."""

    def __init__(self, trade: colo.TradePrint, listed: Listed) -> None:
        super().__init__(instrument_id=listed.instrument_id, exchange_id=listed.exchange_id, data_time=trade.event_time)
        self.price, self.volume, self.seq = price_of(trade.price), trade.quantity, trade.sequence
        flags = {colo.Aggressor.BUY: BsFlag.Buy, colo.Aggressor.SELL: BsFlag.Sell}
        self.bs_flag = flags.get(trade.aggressor, BsFlag.Unknown)


class OrderInput(Shape):
    """What was sent."""


class Order(Shape):
    """An order as it stands; the same object in the book of the strategy."""

    status: OrderStatus
    volume_left: int

    def __init__(self, id: int, listed: Listed, source: str, account: str, side: Side, now: int) -> None:
        super().__init__(order_id=id, instrument_id=listed.instrument_id, exchange_id=listed.exchange_id)
        self.source_id, self.account_id, self.side = source, account, side
        self.location = Location("td", source, account)
        self.insert_time = self.update_time = now
        self.instrument_type, self.external_order_id = InstrumentType.Unknown, str(id)
        self.limit_price, self.volume, self.volume_left = 0.0, 0, 0
        self.status, self.error_id, self.error_msg = OrderStatus.Submitted, 0, ""
        self.price_type, self.offset, self.hedge_flag = PriceType.Limit, Offset.Open, HedgeFlag.Speculation
        self.volume_condition, self.time_condition = VolumeCondition.Any, TimeCondition.GFD
        self.is_swap, self.parent_id = False, 0

    def update(self, update: colo.OrderUpdate, now: int) -> None:
        self.update_time = now
        self.limit_price, self.volume = price_of(update.price), update.quantity
        self.volume_left = update.remaining
        works = OrderStatus.PartialFilledActive if update.filled else OrderStatus.Pending
        match update.status:
            case colo.OrderStatus.FILLED:
                self.status = OrderStatus.Filled
            case colo.OrderStatus.CANCELLED:
                self.status = OrderStatus.PartialFilledNotActive if update.filled else OrderStatus.Cancelled
                # Of a cancelled order Kungfu shows what was left of it.
                self.volume_left = update.quantity - update.filled
            case colo.OrderStatus.REJECTED:
                self.status, self.volume_left = OrderStatus.Error, update.quantity
                self.error_id, self.error_msg = int(update.reason), update.reason.name.lower()
            case _:
                self.status = works


class Trade(Shape):
    """Part of an order has traded."""

    def __init__(self, fill: colo.Fill, order: Order, now: int) -> None:
        super().__init__(trade_id=fill.trade_id, order_id=fill.order_id, trade_time=now)
        self.instrument_id, self.exchange_id = order.instrument_id, order.exchange_id
        self.instrument_type = InstrumentType.Unknown
        self.source_id, self.account_id, self.side = order.source_id, order.account_id, order.side
        self.external_order_id, self.external_trade_id = str(fill.order_id), str(fill.trade_id)
        self.offset, self.hedge_flag, self.parent_order_id = order.offset, order.hedge_flag, 0
        self.price, self.volume = price_of(fill.price), fill.quantity


class Position(Shape):
    """A position of the strategy. The ledger does not tell days apart: `yesterday_volume` is 0."""

    def __init__(self, listed: Listed, quantity: int, account: str) -> None:
        super().__init__(instrument_id=listed.instrument_id, exchange_id=listed.exchange_id, account_id=account)
        self.instrument_type = InstrumentType.Unknown
        self.direction = Direction.Long if quantity > 0 else Direction.Short
        self.volume, self.yesterday_volume = abs(quantity), 0

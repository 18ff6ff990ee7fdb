"""Books: of the strategy, and of an account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import colo
from colo.kungfu._shapes import Listed, Order, OrderInput, Position, Shape, Trade

if TYPE_CHECKING:
    from colo.kungfu._context import Context


class Asset(Shape):
    """The money of an account, where the platform keeps accounts."""

    def __init__(self, state: colo.AccountState | None) -> None:
        if state is not None:
            money = colo.MONEY_ONE
            super().__init__(
                avail=state.available / money,
                margin=state.margin / money,
                frozen_cash=state.frozen / money,
                dynamic_equity=state.equity / money,
                total_asset=state.equity / money,
            )


class Book:
    """Positions and orders of the strategy, all of them or those of an account; the ledger keeps positions by strategy, so those
    are the same in both. Keys are those of `hash_instrument`, and numbers of orders and trades."""

    def __init__(self, context: Context, source: str, account: str) -> None:
        self._context, self._source, self._account = context, source, account

    @property
    def asset(self) -> Asset:
        return Asset(self._context._account_state(self._account))

    @property
    def instruments(self) -> dict[tuple[object, ...], Listed]:
        return {(listed.exchange_id, listed.instrument_id): listed for listed in self._context._listed.values()}

    def _positions(self, sign: int) -> dict[tuple[object, ...], Position]:
        context = self._context
        found: dict[tuple[object, ...], Position] = {}
        uid = context.get_account_uid(self._source, self._account)
        for listed in context._listed.values():
            quantity = context._platform().position(listed.number).quantity
            if quantity * sign > 0:
                found[(uid, listed.exchange_id, listed.instrument_id)] = Position(listed, quantity, self._account)
        return found

    @property
    def long_positions(self) -> dict[tuple[object, ...], Position]:
        return self._positions(1)

    @property
    def short_positions(self) -> dict[tuple[object, ...], Position]:
        return self._positions(-1)

    def has_long_position(self, source: str, account: str, exchange: str, instrument: str) -> bool:
        return self._find(1, exchange, instrument) is not None

    def has_short_position(self, source: str, account: str, exchange: str, instrument: str) -> bool:
        return self._find(-1, exchange, instrument) is not None

    def get_long_position(self, source: str, account: str, exchange: str, instrument: str) -> Position | None:
        return self._find(1, exchange, instrument)

    def get_short_position(self, source: str, account: str, exchange: str, instrument: str) -> Position | None:
        return self._find(-1, exchange, instrument)

    def _find(self, sign: int, exchange: str, instrument: str) -> Position | None:
        key = (self._context.get_account_uid(self._source, self._account), exchange, instrument)
        return self._positions(sign).get(key)

    def _mine(self, found: dict[int, Any]) -> dict[int, Any]:
        return {id: one for id, one in found.items() if not self._account or one.account_id == self._account}

    @property
    def orders(self) -> dict[int, Order]:
        return self._mine(self._context._orders)

    @property
    def trades(self) -> dict[int, Trade]:
        return self._mine(self._context._trades)

    @property
    def order_inputs(self) -> dict[int, OrderInput]:
        return self._mine(self._context._inputs)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`{name}` of a book: this platform does not have it; docs/kungfu.md says what it has")

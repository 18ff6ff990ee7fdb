"""The smallest strategy that trades: at quotes of its instruments it sends an immediate-or-cancel order at the best price of the
other side, buying and selling in turn, and never beyond its position limit."""

import colo


class Taker(colo.Strategy):
    def __init__(self, quantity: int = 1, every: int = 1, max_position: int = 10) -> None:
        for name, value in (("quantity", quantity), ("every", every), ("max_position", max_position)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1")
        self.lots = quantity
        self.every = every
        self.limit = max_position
        self.quotes = 0
        self.sells: dict[int, bool] = {}

    def on_quote(self, ctx: colo.Context, quote: colo.Quote, /) -> None:
        self.answer(ctx, quote.instrument, quote.bid_price, quote.ask_price)

    def on_best(self, ctx: colo.Context, instrument: int, best: colo.Best, /) -> None:
        self.answer(ctx, instrument, best.bid, best.ask)

    def on_fill(self, ctx: colo.Context, fill: colo.Fill, /) -> None:
        ctx.log(f"{fill.side.name} {fill.quantity} at {colo.price_text(fill.price)}")

    def answer(self, ctx: colo.Context, id: int, bid: int, ask: int) -> None:
        self.quotes += 1
        instrument = ctx.instrument(id)
        if self.quotes % self.every or instrument is None:
            return
        lot = max(1, instrument.lot)
        sells = self.sells.get(id, False)
        if not self.has_room(ctx, id, sells, lot):
            sells = not sells
            if not self.has_room(ctx, id, sells, lot):
                return
        price = bid if sells else ask
        if price == colo.NO_PRICE:
            return
        side = colo.Side.SELL if sells else colo.Side.BUY
        try:
            ctx.order(side, id, self.lots * lot, price, time_in_force=colo.TimeInForce.IOC)
        except colo.OrderError as error:
            ctx.log(error)
            return
        self.sells[id] = not sells

    def has_room(self, ctx: colo.Context, id: int, sells: bool, lot: int) -> bool:
        """What works may still trade: it counts as traded."""
        held = ctx.position(id).quantity
        working = ctx.working_quantity(id, colo.Side.SELL if sells else colo.Side.BUY)
        return (-held if sells else held) + working + self.lots * lot <= self.limit * lot


if __name__ == "__main__":
    colo.run(Taker)

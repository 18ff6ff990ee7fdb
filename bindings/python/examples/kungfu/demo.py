"""A strategy in Kungfu's shape; nothing in it knows colo. Whenever the book changes it buys at the last price, unless it holds enough,
and after three seconds it takes back what has not traded."""

import kungfu.yijinjing.time as kft
from kungfu.wingchun.constants import *

SOURCE = "sim"
ACCOUNT = "10001"
EXCHANGE = Exchange.SSE
TICKERS = ["600000", "600001"]
VOLUME = 200
ENOUGH = 2000
PATIENCE = 3 * 1_000_000_000


def pre_start(context):
    context.add_account(SOURCE, ACCOUNT)
    context.subscribe(SOURCE, TICKERS, EXCHANGE)
    context.sent = 0


def post_start(context):
    context.log.warning("started at {}".format(kft.strftime(context.now())))
    log_book(context, None)
    context.add_time_interval(2 * 1_000_000_000, log_book)


def on_quote(context, quote, location, dest):
    held = context.book.get_long_position(SOURCE, ACCOUNT, EXCHANGE, quote.instrument_id)
    if quote.instrument_id not in TICKERS or (held is not None and held.volume >= ENOUGH):
        return
    order_id = context.insert_order(
        quote.instrument_id, EXCHANGE, SOURCE, ACCOUNT, quote.last_price, VOLUME, PriceType.Limit, Side.Buy, Offset.Open
    )
    if order_id > 0:
        context.sent += 1
        context.add_timer(context.now() + PATIENCE, lambda ctx, event: take_back(ctx, order_id))


def on_order(context, order, location, dest):
    if order.status == OrderStatus.Error:
        context.log.error("{} of {}/{}: {}".format(order.order_id, location.group, location.name, order.error_msg))


def on_trade(context, trade, location, dest):
    context.log.info("[on_trade] {} {} at {}".format(trade.instrument_id, trade.volume, trade.price))


def pre_stop(context):
    context.log.info("sent {} orders".format(context.sent))


def post_stop(context):
    context.log.info("the process ends")


def log_book(context, event):
    book = context.get_account_book(SOURCE, ACCOUNT)
    context.log.info("money: {}".format(book.asset))
    for key in book.long_positions:
        position = book.long_positions[key]
        context.log.info("{}: {}, yesterday {}".format(position.instrument_id, position.volume, position.yesterday_volume))


def take_back(context, order_id):
    if context.book.orders[order_id].status not in AllFinalOrderStatus:
        action_id = context.cancel_order(order_id)
        context.log.info("cancel {}: request {}".format(order_id, action_id))

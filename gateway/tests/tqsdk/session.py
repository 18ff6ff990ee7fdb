"""A session of tqsdk as it is: quotes, bars, a thousand orders, cancels, a gateway that is killed, positions."""

import json
import os
import sys
import time

import requests
from tqsdk import TqAccount, TqApi, TqAuth

TOKEN, URL, SYMBOL = os.environ["COLO_TOKEN"], os.environ["COLO_URL"], "SHFE.SIM001"


def other(name, side, quantity, price):
    """An order of the other account, over HTTP."""
    body = {"client_order_id": name, "account": 8, "symbol": "SIM001", "side": side, "quantity": quantity, "price": price}
    end = time.time() + 30
    while True:
        try:
            answer = requests.post(URL + "/v1/orders", json=body, headers={"Authorization": "Bearer " + TOKEN}, timeout=30)
            break
        except requests.ConnectionError:
            # A gateway that was killed is started again.
            assert time.time() < end, "no gateway"
            time.sleep(0.05)
    assert answer.status_code in (200, 201), answer.text


def until(what, is_it, seconds=60):
    end = time.time() + seconds
    while not is_it():
        assert api.wait_update(deadline=end) or is_it(), what + " did not come"
    print("seen:", what, flush=True)


account = TqAccount("COLO", "9", TOKEN)
api = TqApi(account, auth=TqAuth("me", TOKEN), _stock=False, disable_print=True, debug=False)
print("logged in", flush=True)
quote = api.get_quote(SYMBOL)
assert quote.price_tick > 0, quote.price_tick
other("rest", "sell", 20, "101")
until("a quote", lambda: quote.ask_price1 == 101 and quote.ask_volume1 == 20)

orders = [api.insert_order(SYMBOL, "BUY", "OPEN", 1, limit_price=90 + number % 50 / 10) for number in range(1000)]
until("1000 orders at work", lambda: all(order.is_online for order in orders))
until("their quote", lambda: quote.bid_price1 == 94.9)
for order in orders:
    api.cancel_order(order)
until("1000 cancels", lambda: all(order.status == "FINISHED" for order in orders))
assert not any(order.is_error for order in orders)

bought = api.insert_order(SYMBOL, "BUY", "OPEN", 5, limit_price=101)
until("a trade", lambda: bought.status == "FINISHED" and bought.volume_left == 0)
position = api.get_position(SYMBOL)
until("the position", lambda: position.pos_long == 5 and position.open_price_long == 101)
until("its trades", lambda: sum(trade.volume for trade in bought.trade_records.values()) == 5)
until("its price", lambda: bought.trade_price == 101)
bars = api.get_kline_serial(SYMBOL, 60, data_length=10)
until("bars", lambda: bars.close.iloc[-1] == 101 and bars.volume.iloc[-1] >= 1)
seconds = api.get_kline_serial(SYMBOL, 5, data_length=10)
until("bars of five seconds", lambda: seconds.volume.sum() == 5)
money = api.get_account()
assert money.balance > 0 and money.margin == money.margin, money

refused = api.insert_order(SYMBOL, "BUY", "OPEN", 1, limit_price=99.123)
until("a refusal", lambda: refused.is_error)
assert "off-tick" in refused.last_msg, refused.last_msg

print("KILL", flush=True)
sys.stdin.readline()
other("late", "buy", 1, "94")
until("the connection again", lambda: quote.bid_price1 == 94, seconds=120)
more = api.insert_order(SYMBOL, "BUY", "OPEN", 2, limit_price=101)
until("a trade after it", lambda: more.status == "FINISHED" and more.volume_left == 0, seconds=120)
until("the position after it", lambda: position.pos_long == 7)
until("a bar after it", lambda: seconds.volume.iloc[-5:].sum() >= 2)
print(
    "RESULT",
    json.dumps(
        {
            "orders": sum(1 for order in api.get_order().values() if order.exchange_order_id),
            "long": int(position.pos_long),
            "short": int(position.pos_short),
        }
    ),
    flush=True,
)
api.close()

"""The functions of `pykungfu.wingchun.utils`."""

import math

from colo.kungfu.constants import AllFinalOrderStatus, OrderStatus


def hash_instrument(*names: object) -> tuple[object, ...]:
    """The key of an instrument (exchange, instrument) or of a position (account, exchange, instrument) in a book."""
    return names


def is_valid_price(price: float) -> bool:
    return math.isfinite(price) and 0.0 < price < 1e18


def is_final_status(status: OrderStatus) -> bool:
    return status in AllFinalOrderStatus

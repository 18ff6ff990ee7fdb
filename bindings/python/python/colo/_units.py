"""Prices as people write them."""

from decimal import Decimal

from colo._messages import NO_PRICE, PRICE_ONE

_MOST = Decimal(2**63 - 1) / PRICE_ONE


def price(text: str | Decimal) -> int:
    """A price from its decimal notation: `price("10.25")`. Exact: more than nine decimals are an error, and so is what a price of 64
    bits does not hold (`OverflowError`)."""
    given = Decimal(text)
    # Before it is made whole: a large exponent would take all memory.
    if given.is_finite() and given.copy_abs() > _MOST:
        raise OverflowError(f"{text} is beyond the prices of the platform, which end at {_MOST}")
    scaled = given * PRICE_ONE
    whole = int(scaled)
    if whole != scaled:
        raise ValueError(f"{text} has more than nine decimals")
    return whole


def price_text(value: int) -> str:
    """A price in decimal notation, `-` for none."""
    if value == NO_PRICE:
        return "-"
    return f"{(Decimal(value) / PRICE_ONE).normalize():f}"

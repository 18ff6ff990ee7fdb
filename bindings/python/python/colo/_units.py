"""Prices as people write them."""

from decimal import Decimal

from colo._messages import NO_PRICE, PRICE_ONE


def price(text: str | Decimal) -> int:
    """A price from its decimal notation: `price("10.25")`. Exact: more than nine decimals are an error."""
    scaled = Decimal(text) * PRICE_ONE
    whole = int(scaled)
    if whole != scaled:
        raise ValueError(f"{text} has more than nine decimals")
    return whole


def price_text(value: int) -> str:
    """A price in decimal notation, `-` for none."""
    if value == NO_PRICE:
        return "-"
    return f"{(Decimal(value) / PRICE_ONE).normalize():f}"

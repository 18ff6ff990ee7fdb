"""The functions of `kungfu.yijinjing.time`: times are whole nanoseconds, texts are local time."""

from datetime import datetime
from time import time_ns

NANO_PER_SECOND = 1_000_000_000


def now_in_nano() -> int:
    """The clock of the host; a strategy asks `context.now()`, which is the market's in lock-step."""
    return time_ns()


def strftime(nano: int, format: str = "%Y-%m-%d %H:%M:%S.%N") -> str:
    """A time as text; `%N` are nine digits of nanoseconds."""
    seconds, rest = divmod(nano, NANO_PER_SECOND)
    return datetime.fromtimestamp(seconds).strftime(format.replace("%N", f"{rest:09}"))


def strptime(text: str, format: str = "%Y-%m-%d %H:%M:%S.%N") -> int:
    """A text as a time; digits behind the last full stop are a fraction of a second, and there may be none."""
    rest = 0
    if format.endswith(".%N"):
        format = format.removesuffix(".%N")
        text, _, digits = text.partition(".")
        rest = int(digits.ljust(9, "0")[:9]) if digits else 0
    return int(datetime.strptime(text, format).timestamp()) * NANO_PER_SECOND + rest


def to_datetime(nano: int) -> datetime:
    return datetime.fromtimestamp(nano / NANO_PER_SECOND)

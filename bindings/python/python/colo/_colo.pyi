"""The native module."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

from colo._messages import (
    AccountState,
    Best,
    CancelAll,
    CancelOrder,
    Instrument,
    NewOrder,
    OrderStatus,
    Quote,
    Reason,
    ReplaceOrder,
    Side,
    TimeInForce,
)
from colo._strategy import Strategy

class ColoError(Exception):
    """What colo refuses says what, where, and what to do."""

    code: str
    """Of journals: the reason by name, as `damaged`."""

class OrderError(ColoError):
    """A request was not sent."""

    refusal: str
    """The reason by name: `full` (td is behind, try again at a later event), `unknown_order`, `no_price` …"""

class Lapped(ColoError):
    """The writer overtook a loose reader. The next call reads on."""

    lost_from: int
    resumed_at: int

@final
class Position:
    """A position in one instrument; `cash` is what sales brought less what purchases cost, in millionths of the currency."""

    @property
    def quantity(self) -> int: ...
    @property
    def bought(self) -> int: ...
    @property
    def sold(self) -> int: ...
    @property
    def cash(self) -> int: ...

@final
class WorkingOrder:
    """An order that has not ended."""

    @property
    def id(self) -> int: ...
    @property
    def instrument(self) -> int: ...
    @property
    def side(self) -> Side: ...
    @property
    def price(self) -> int: ...
    @property
    def quantity(self) -> int: ...
    @property
    def filled(self) -> int: ...
    @property
    def sent(self) -> int: ...
    @property
    def accepted(self) -> bool: ...
    @property
    def cancelling(self) -> bool: ...
    @property
    def replacing(self) -> int: ...

@final
class Timer:
    """A timer that is due."""

    @property
    def id(self) -> int: ...
    @property
    def key(self) -> int: ...
    @property
    def due(self) -> int: ...

@final
class Context:
    """The strategy's access to the platform: valid during its calls."""

    @property
    def name(self) -> str:
        """Name of the node, as in the platform file."""
    @property
    def strategy(self) -> int:
        """Number of the strategy: its seat."""
    @property
    def data(self) -> str:
        """What it hears of the market: `depth`, `best` or `flow`."""
    @property
    def accounts(self) -> list[int]:
        """The accounts that the strategy may trade for, its default first."""
    def now(self) -> int:
        """The time in nanoseconds since the epoch; in lock-step the market's."""
    def log(self, message: object) -> None:
        """One line in the node's log."""
    def request_stop(self) -> None:
        """Ends the strategy in good order."""
    def instrument(self, id: int) -> Instrument | None:
        """A listed instrument by its id, a copy."""
    def by_symbol(self, symbol: str) -> Instrument | None:
        """A listed instrument by its symbol, a copy."""
    def instruments(self) -> list[Instrument]:
        """The instruments that the strategy reads."""
    def last_quote(self, instrument: int) -> Quote | None:
        """The latest quote of an instrument, a copy; with `data = "depth"`."""
    def last_best(self, instrument: int) -> Best | None:
        """The latest best bid and ask of an instrument, a copy."""
    def depth(self, instrument: int) -> Quote:
        """Ten levels of an instrument, behind the best that was heard last or a later one."""
    def position(self, instrument: int) -> Position:
        """The strategy's position in an instrument."""
    def profit(self, instrument: int, mark: int) -> int:
        """Profit and loss if what is open were closed at `mark`, in millionths of the currency."""
    def account(self, account: int | None = None) -> AccountState:
        """How an account stands, by default the strategy's own; where accounts are kept."""
    def working_orders(self) -> list[WorkingOrder]:
        """The orders that have not ended, by ascending id."""
    def working_order(self, id: int) -> WorkingOrder | None:
        """One order, if it has not ended."""
    def working_quantity(self, instrument: int, side: Side | int) -> int:
        """How much of the orders on this side may still trade."""
    def order(
        self,
        side: Side | int,
        instrument: int,
        quantity: int,
        price: int | None = None,
        *,
        time_in_force: TimeInForce | int | None = None,
        account: int | None = None,
        display: int = 0,
        minimum: int = 0,
        trigger: int | None = None,
        ends: int = 0,
        flags: int = 0,
    ) -> int:
        """Sends an order and returns its id at once; without a price a market order. What becomes of it comes through `on_order`
        and `on_fill`. Raises OrderError where nothing was sent."""
    def cancel(self, id: int) -> None:
        """Asks for the rest of an order to be taken out of the book."""
    def replace(self, id: int, price: int, quantity: int) -> None:
        """Asks for a new price and a new whole quantity, what has traded included."""
    def cancel_all(
        self, instrument: int | None = None, side: Side | int | None = None, account: int | None = None
    ) -> int:
        """Asks for all orders that match to be cancelled, with one message; the number under which it is answered."""
    def set_timer(self, *, after: int | None = None, at: int | None = None, key: int = 0) -> int:
        """Calls `on_timer` once: `after` nanoseconds from now, or `at` a time of the strategy's clock."""
    def cancel_timer(self, timer: int) -> bool:
        """True when the timer was still set."""

@final
class Registry:
    """The registry of an instance: its clock, and the seats that sleep and are woken."""

    def __new__(cls, path: str | PathLike[str]) -> Registry: ...
    def announce(self) -> None: ...

@final
class Journal:
    """A journal in shared memory."""

    def __new__(cls, folder: str | PathLike[str], name: str, *, read_only: bool = False) -> Journal: ...
    @staticmethod
    def of_instance(instance: str, name: str) -> Journal: ...
    @property
    def head(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    def oldest(self) -> int: ...
    def state(self) -> tuple[int, str, int]: ...
    def interest(self, seat: int, topics: list[int] | None) -> None: ...
    def writer(self, seat: int, registry: Registry | None = None) -> Writer: ...
    def loose(self, position: int, seat: int | None = None) -> Reader: ...
    def gated(self, seat: int) -> Reader: ...

_Frame = tuple[int, int, int, int, int, int, bytes, list[tuple[int, bytes]]]

@final
class Writer:
    """The one writer of a journal."""

    @property
    def epoch(self) -> int: ...
    @property
    def position(self) -> int: ...
    def write(self, message: int, topic: int, payload: bytes) -> tuple[int, int]: ...
    def batch(self, frames: list[tuple[int, int, bytes]]) -> int: ...
    def records(self, message: int, topic: int, size: int, records: list[bytes]) -> tuple[int, int]: ...
    def skip(self, bytes: int) -> int: ...
    def begin(self, frames: list[tuple[int, int, bytes]], together: bool) -> None: ...

@final
class Frame:
    """A frame, copied. A reader fills the same few again and again, as long as nobody keeps them."""

    @property
    def position(self) -> int: ...
    @property
    def message(self) -> int: ...
    @property
    def topic(self) -> int: ...
    @property
    def time(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def payload(self) -> bytes:
        """The payload, a copy."""
    def number(self, offset: int = 0, size: int = 8) -> int:
        """A little-endian number in the payload, without a copy of it."""
    def decode(self) -> Any:
        """The message in the frame; None if it is no message of the platform, or of another size."""

@final
class Reader:
    """A reader, loose or gated."""

    @property
    def position(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def passed_over(self) -> int: ...
    def read(self) -> _Frame | None: ...
    def next(self) -> Frame | None:
        """The next frame; None if none is there yet. It is not changed as long as somebody keeps it."""
    def array(self, kind: Any, most: int) -> Any: ...
    def publish(self) -> None: ...
    def keep(self, position: int) -> None: ...
    def has_news(self) -> bool: ...
    def park(self, registry: Registry, timeout_ns: int) -> str: ...

_Price = int | str

class Harness:
    """A strategy in a session of its own, with a clock that stands still unless it is moved. What the strategy raises, the call
    raises that it was made in; then it has ended. Prices are whole billionths, or decimals as text."""

    def __new__(
        cls,
        strategy: type[Strategy],
        parameters: dict[str, Any] | None = None,
        *,
        data: str = "depth",
        deterministic: bool = False,
    ) -> Harness: ...
    @property
    def now(self) -> int:
        """The clock, in nanoseconds."""
    @property
    def strategy(self) -> Any:
        """The strategy itself."""
    def list(self, symbol: str, tick: str = "0.01", lot: int = 1) -> int:
        """Lists an instrument and returns its id; ids count from 1."""
    def start(self) -> None:
        """The list of instruments is whole: starts the strategy."""
    def quote(self, instrument: int, bid: _Price | None, ask: _Price | None, quantity: int) -> None:
        """A quote of one level a side, both of `quantity`; None: no such side."""
    def book(self, instrument: int, bids: Sequence[tuple[_Price, int]], asks: Sequence[tuple[_Price, int]]) -> None:
        """A quote with these levels, the best first; ten a side at most."""
    def publish(self, quote: Quote | bytes) -> bool:
        """A recorded quote, or its bytes. False where the strategy does not hear it."""
    def trade(self, instrument: int, at: _Price, quantity: int) -> None:
        """The market traded."""
    def accept(self, order: NewOrder) -> None:
        """The market has accepted an order."""
    def update(self, order: NewOrder, status: OrderStatus | int, reason: Reason | int = 1) -> None:
        """An update of an order that leaves its price and quantity as they are."""
    def fill(self, order: NewOrder, price: _Price | None = None, quantity: int | None = None) -> None:
        """Part of an order has traded, by default all that is left of it at its price; an update follows."""
    def sent(self) -> Sequence[NewOrder | CancelOrder | ReplaceOrder | CancelAll]:
        """What was sent since the last call."""
    def set_full(self, full: bool) -> None:
        """From now on every request finds td behind, or not."""
    def advance(self, nanoseconds: int) -> None:
        """Moves the clock by so many nanoseconds, and gives timers their turn."""
    def turn(self) -> None:
        """A round without messages: what was kept back for `on_quotes` is handed over."""
    def stop(self) -> None:
        """Stops the strategy."""
    def position(self, instrument: int) -> Position: ...
    def working_orders(self) -> Sequence[WorkingOrder]: ...

def dtype(message: type) -> Any:
    """numpy's type of a message: `colo.dtype(colo.Quote)`."""

def run(strategies: list[type[Strategy]], words: list[str]) -> int: ...
def drive(strategy: type[Strategy], count: int, together: int) -> float: ...
def stubs() -> str: ...
def count_allocations(function: Callable[[], object]) -> tuple[int, int] | None:
    """Calls a function; how often memory was allocated meanwhile and how many bytes of it, also what was freed at once."""


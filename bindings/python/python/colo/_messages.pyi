"""The messages and enumerations of the platform: docs/messages.md.

Made from the table of fields by `colo._colo.stubs()`; do not edit.
"""

from enum import IntEnum
from typing import Final, final

NO_PRICE: Final[int]
PRICE_ONE: Final[int]
MONEY_ONE: Final[int]

__all__ = [
    "MONEY_ONE",
    "NO_PRICE",
    "PRICE_ONE",
    "Aggressor",
    "BookAction",
    "Side",
    "TradingPhase",
    "OrderType",
    "TimeInForce",
    "OrderStatus",
    "Reason",
    "Liquidity",
    "NodeChange",
    "NodeRole",
    "AccountKind",
    "CostMethod",
    "AccountScope",
    "AccountAction",
    "LimitKind",
    "LimitChange",
    "ChargeKind",
    "FeeSide",
    "FeeEvent",
    "Instrument",
    "Level",
    "Quote",
    "TradePrint",
    "BookEvent",
    "MarketPhase",
    "Indicative",
    "Best",
    "Cause",
    "NewOrder",
    "CancelOrder",
    "ReplaceOrder",
    "LatencySample",
    "CancelAll",
    "Statistics",
    "ClientOrder",
    "KeptOrder",
    "OrderUpdate",
    "Fill",
    "SnapshotBegin",
    "SnapshotEnd",
    "PositionState",
    "NodeEvent",
    "EndOfStream",
    "OrderImage",
    "MarketImage",
    "NewestOrder",
    "StateEnd",
    "DueTime",
    "StateBegin",
    "RecordImage",
    "BookImage",
    "TakenImage",
    "MarketRead",
    "AccountOpen",
    "AccountChange",
    "AccountLimit",
    "FeeRule",
    "MarginRule",
    "ContractTerms",
    "CurrencyRate",
    "SettlementPrice",
    "Settle",
    "EntryResult",
    "Mark",
    "AccountState",
    "DeskPart",
]

class Aggressor(IntEnum):
    """Who caused a trade in the market."""

    BUY = 1
    SELL = 2
    NONE = 3

class BookAction(IntEnum):
    """What an event in the market's order flow does to its book."""

    ADD = 1
    REDUCE = 2
    DELETE = 3
    EXECUTE = 4
    MODIFY = 5
    TRADE = 6
    CLEAR = 7

class Side(IntEnum):
    """Which side of the book."""

    BUY = 1
    SELL = 2

class TradingPhase(IntEnum):
    """What an instrument's market is doing."""

    CLOSED = 1
    PRE_OPEN = 2
    OPENING_AUCTION = 3
    OPENING_FREEZE = 4
    PAUSE = 5
    CONTINUOUS = 6
    HALT = 7
    VOLATILITY_AUCTION = 8
    CLOSING_AUCTION = 9
    CLOSING_FREEZE = 10

class OrderType(IntEnum):
    """How an order's price is meant."""

    LIMIT = 1
    MARKET = 2
    STOP = 3
    STOP_LIMIT = 4

class TimeInForce(IntEnum):
    """How long an order lives."""

    DAY = 1
    IOC = 2
    FOK = 3
    POST_ONLY = 4
    GTC = 5
    GTD = 6
    AT_THE_OPEN = 7
    AT_THE_CLOSE = 8

class OrderStatus(IntEnum):
    """Where an order stands. Rejected, Cancelled and Filled are final."""

    ACCEPTED = 1
    PARTIALLY_FILLED = 2
    FILLED = 3
    CANCELLED = 4
    REJECTED = 5
    REPLACED = 6
    CANCEL_REJECTED = 7
    REPLACE_REJECTED = 8
    REDUCED = 9
    TRIGGERED = 10
    MASS_CANCELLED = 11

class Reason(IntEnum):
    """Why an order was rejected or cancelled."""

    NONE = 1
    REQUESTED = 2
    UNKNOWN_INSTRUMENT = 3
    OFF_TICK = 4
    PRICE_BAND = 5
    QUANTITY = 6
    WORKING_ORDERS = 7
    POSITION_LIMIT = 8
    NO_LIQUIDITY = 9
    NOT_FILLABLE = 10
    WOULD_TRADE = 11
    UNKNOWN_ORDER = 12
    NOT_YOURS = 13
    DUPLICATE_ORDER = 14
    STRATEGY_GONE = 15
    MARKET_CLOSED = 16
    MALFORMED = 17
    OVERLOAD = 18
    CALL_AUCTION = 19
    UNKNOWN_ACCOUNT = 20
    SELF_TRADE = 21
    EXPIRED = 22
    UNSUPPORTED = 23
    NOT_DURABLE = 24
    INSUFFICIENT_FUNDS = 25
    NOTIONAL_LIMIT = 26
    ORDER_NOTIONAL = 27
    ORDER_RATE = 28
    MESSAGE_RATE = 29
    SHORT_SALE = 30
    NOT_TRADABLE = 31
    ACCOUNT_FROZEN = 32
    ACCOUNT_CLOSED = 33
    KILLED = 34
    NOT_CLOSABLE = 35
    NO_WORST_PRICE = 36
    FORCED_LIQUIDATION = 37

class Liquidity(IntEnum):
    """Whether a fill gave or took liquidity."""

    MAKER = 1
    TAKER = 2

class NodeChange(IntEnum):
    """What happened to a node."""

    JOINED = 1
    LEFT = 2
    DIED = 3
    PAUSED = 4

class NodeRole(IntEnum):
    """What a node is."""

    STRATEGY = 1
    PLATFORM = 2

class AccountKind(IntEnum):
    """By which rules an account trades."""

    CASH = 1
    MARGIN = 2
    FUTURES = 3

class CostMethod(IntEnum):
    """Which cost leaves when part of a position is closed."""

    AVERAGE = 1
    FIFO = 2
    SETTLEMENT = 3

class AccountScope(IntEnum):
    """What a change or a limit is of."""

    ACCOUNT = 1
    GROUP = 2
    STRATEGY = 3
    PLATFORM = 4

class AccountAction(IntEnum):
    """What happens to an account."""

    DEPOSIT = 1
    WITHDRAW = 2
    FREEZE = 3
    UNFREEZE = 4
    CLOSE = 5
    KILL = 6
    REVIVE = 7

class LimitKind(IntEnum):
    """What is limited."""

    POSITION = 1
    GROSS_NOTIONAL = 2
    ORDER_QUANTITY = 3
    ORDER_NOTIONAL = 4
    ORDER_RATE = 5
    MESSAGE_RATE = 6
    OPEN_ORDERS = 7
    LOSS = 8
    REJECT_RATE = 9
    RUNAWAY_RATE = 10
    MARGIN_CALL = 11
    FORCED_LIQUIDATION = 12
    MONEY = 13
    PRICE_BAND = 14
    SELF_TRADE = 15
    SHORT_SALE = 16

class LimitChange(IntEnum):
    """What an AccountLimit does."""

    SET = 1
    LIFT = 2
    ENABLE = 3
    DISABLE = 4

class ChargeKind(IntEnum):
    """Who gets a charge."""

    FEE = 1
    TAX = 2

class FeeSide(IntEnum):
    """Which fills a charge is made for."""

    BOTH = 1
    BUY = 2
    SELL = 3

class FeeEvent(IntEnum):
    """Which fills a charge is made for, by what they do to the position."""

    ANY = 1
    OPEN = 2
    CLOSE = 3
    CLOSE_TODAY = 4

@final
class Instrument:
    """An instrument and its rules. Written once per instrument, before anything else about it."""

    @property
    def id(self) -> int:
        """Its number, which is also its topic in md.quotes and md.flow."""
    @property
    def symbol(self) -> str:
        """Its name."""
    @property
    def tick(self) -> int:
        """Prices are multiples of this; zero or less: any price."""
    @property
    def lot(self) -> int:
        """Quantities are multiples of this; at least 1."""
    @property
    def price_low(self) -> int:
        """Lowest price an order may have, or Price::NONE."""
    @property
    def price_high(self) -> int:
        """Highest price an order may have, or Price::NONE."""
    @property
    def reference_price(self) -> int:
        """A price to start from (previous close, first trade), or Price::NONE."""
    @property
    def max_quantity(self) -> int:
        """Largest quantity of one order; zero: no limit."""
    @property
    def multiplier(self) -> int:
        """One unit of quantity is worth the price times this; zero: 1."""
    @property
    def currency(self) -> str:
        """In which money it is paid; empty: nobody has said."""
    def copy(self) -> Instrument:
        """A copy that stays valid beyond the call."""

@final
class Level:
    """One price level: the sum of what rests there."""

    @property
    def price(self) -> int:
        """Price::NONE where the book has no such level."""
    @property
    def quantity(self) -> int:
        """Zero where the book has no such level."""
    def copy(self) -> Level:
        """A copy that stays valid beyond the call."""

@final
class Quote:
    """The best ten levels of both sides after one event in the market."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def flags(self) -> int:
        """State of the market."""
    @property
    def due(self) -> int:
        """When the generator's schedule wanted it published (t0), on the platform's clock; zero when replayed at 'max' speed, which has no schedule."""
    @property
    def event_time(self) -> int:
        """The market's own time of the event."""
    @property
    def sequence(self) -> int:
        """The source's own number of the event (row, channel sequence); grows with every event."""
    @property
    def last_price(self) -> int:
        """Price of the last trade, or Price::NONE."""
    @property
    def last_quantity(self) -> int:
        """Quantity of the last trade."""
    @property
    def bids(self) -> tuple[tuple[int, int], ...]:
        """Best first: descending prices."""
    @property
    def bid_price(self) -> int:
        """Price::NONE where the book has no such level. Of the best level."""
    @property
    def bid_quantity(self) -> int:
        """Zero where the book has no such level. Of the best level."""
    @property
    def asks(self) -> tuple[tuple[int, int], ...]:
        """Best first: ascending prices."""
    @property
    def ask_price(self) -> int:
        """Price::NONE where the book has no such level. Of the best level."""
    @property
    def ask_quantity(self) -> int:
        """Zero where the book has no such level. Of the best level."""
    def copy(self) -> Quote:
        """A copy that stays valid beyond the call."""

@final
class TradePrint:
    """A trade as the market reported it."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def aggressor(self) -> Aggressor:
        """Whose incoming order caused it."""
    @property
    def due(self) -> int:
        """When the schedule wanted it published, as in Quote::due."""
    @property
    def event_time(self) -> int:
        """The market's own time."""
    @property
    def sequence(self) -> int:
        """The source's own number of the event."""
    @property
    def price(self) -> int:
        """At which price."""
    @property
    def quantity(self) -> int:
        """How much."""
    @property
    def trade_id(self) -> int:
        """The market's number of the trade, or zero."""
    def copy(self) -> TradePrint:
        """A copy that stays valid beyond the call."""

@final
class BookEvent:
    """One event of the market's order flow (market by order): what matching rebuilds the market's book from."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def action(self) -> BookAction:
        """What it does."""
    @property
    def side(self) -> Side:
        """Side of the resting order."""
    @property
    def flags(self) -> int:
        """What to know about the event beside its action."""
    @property
    def order_ref(self) -> int:
        """The market's number of the resting order; zero where there is none."""
    @property
    def price(self) -> int:
        """Price of the order, or of the trade."""
    @property
    def quantity(self) -> int:
        """Quantity added, taken away or traded; the new total for BookAction::Modify."""
    @property
    def event_time(self) -> int:
        """The market's own time."""
    @property
    def sequence(self) -> int:
        """The source's own number of the event."""
    def copy(self) -> BookEvent:
        """A copy that stays valid beyond the call."""

@final
class MarketPhase:
    """An instrument's market changed its phase."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def phase(self) -> TradingPhase:
        """The phase from now on."""
    @property
    def event_time(self) -> int:
        """The market's own time."""
    @property
    def sequence(self) -> int:
        """The market's number of the event, counted with its book events. The number of the event before it: the phase is only said again, behind a snapshot."""
    def copy(self) -> MarketPhase:
        """A copy that stays valid beyond the call."""

@final
class Indicative:
    """What an auction would trade if it ended now."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def price(self) -> int:
        """Its price; Price::NONE if nothing would trade."""
    @property
    def quantity(self) -> int:
        """How much would trade."""
    @property
    def imbalance(self) -> int:
        """How much more buyers offer at that price than sellers; negative: sellers more."""
    @property
    def event_time(self) -> int:
        """The market's own time."""
    @property
    def sequence(self) -> int:
        """The market's number of the last event before it."""
    def copy(self) -> Indicative:
        """A copy that stays valid beyond the call."""

@final
class Best:
    """The best level of both sides after one event in the market. The instrument is the frame's topic. Quantities are in the units of Quote's, up to Best::MOST: a greater one is shown as that, and then means 'at least so much'. A strategy that has to know the rest asks for the depth."""

    @property
    def bid(self) -> int:
        """Best bid's price, or Price::NONE."""
    @property
    def ask(self) -> int:
        """Best ask's price, or Price::NONE."""
    @property
    def bid_quantity(self) -> int:
        """Quantity at the best bid, zero where there is none; Best::MOST: at least so much."""
    @property
    def ask_quantity(self) -> int:
        """Quantity at the best ask, zero where there is none; Best::MOST: at least so much."""
    @property
    def due(self) -> int:
        """When the schedule wanted it published, as in Quote::due."""
    def copy(self) -> Best:
        """A copy that stays valid beyond the call."""

@final
class Cause:
    """The message that made a strategy act: enough to follow the chain end to end and to time each hop."""

    @property
    def position(self) -> int:
        """Position of the frame in its journal; zero with journal zero: nothing caused it (a timer, the start)."""
    @property
    def due(self) -> int:
        """t0: when it was due."""
    @property
    def published(self) -> int:
        """t1: when md committed it (the frame's time)."""
    @property
    def received(self) -> int:
        """t2: when the strategy received it."""
    @property
    def journal(self) -> int:
        """The journal's number within the instance."""
    def copy(self) -> Cause:
        """A copy that stays valid beyond the call."""

@final
class NewOrder:
    """A new order. Its frame's time is t3."""

    @property
    def order_id(self) -> int:
        """Given by the strategy's own SDK; never used twice."""
    @property
    def instrument(self) -> int:
        """What to trade."""
    @property
    def side(self) -> Side:
        """Buy or sell."""
    @property
    def order_type(self) -> OrderType:
        """Limit or market."""
    @property
    def time_in_force(self) -> TimeInForce:
        """How long it lives."""
    @property
    def flags(self) -> int:
        """Conditions."""
    @property
    def price(self) -> int:
        """Limit price; ignored for orders that have none (OrderType::has_price)."""
    @property
    def quantity(self) -> int:
        """How much; positive."""
    @property
    def cause(self) -> Cause:
        """The message that it answers."""
    @property
    def account(self) -> int:
        """For which account."""
    @property
    def display_lots(self) -> int:
        """How many lots of it the book shows at a time; zero: all."""
    @property
    def trigger(self) -> int:
        """The price that a stop waits for; otherwise zero."""
    @property
    def minimum_lots(self) -> int:
        """It trades at least so many lots at once, or nothing; zero: any quantity."""
    @property
    def ends_s(self) -> int:
        """With TimeInForce::GoodTillDate: when it ends, in seconds of the market's time; otherwise zero."""
    def copy(self) -> NewOrder:
        """A copy that stays valid beyond the call."""

@final
class CancelOrder:
    """Takes what is left of an order out of the book."""

    @property
    def order_id(self) -> int:
        """Which order."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    @property
    def source(self) -> int:
        """In td.orders: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td asks by itself 2^31 and a number of its own. In the strategy's journal: zero."""
    def copy(self) -> CancelOrder:
        """A copy that stays valid beyond the call."""

@final
class ReplaceOrder:
    """Changes price or quantity of a working order. It keeps its place only if the price stays and the quantity does not grow."""

    @property
    def order_id(self) -> int:
        """Which order."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    @property
    def source(self) -> int:
        """In td.orders: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td asks by itself 2^31 and a number of its own. In the strategy's journal: zero."""
    @property
    def price(self) -> int:
        """New limit price."""
    @property
    def quantity(self) -> int:
        """New total quantity, what has traded included."""
    def copy(self) -> ReplaceOrder:
        """A copy that stays valid beyond the call."""

@final
class LatencySample:
    """The five times of one order on the platform's clock, written by td as it takes the order."""

    @property
    def order_id(self) -> int:
        """Which order."""
    @property
    def due(self) -> int:
        """t0: when the quote was due; zero where there is no schedule."""
    @property
    def published(self) -> int:
        """t1: md committed the quote."""
    @property
    def received(self) -> int:
        """t2: the strategy received it."""
    @property
    def ordered(self) -> int:
        """t3: the strategy committed the order."""
    @property
    def taken(self) -> int:
        """t4: td received it."""
    def copy(self) -> LatencySample:
        """A copy that stays valid beyond the call."""

@final
class CancelAll:
    """Cancels all working orders of the strategy that match what is given."""

    @property
    def order_id(self) -> int:
        """Number of the request, from the same sequence as those of orders: its answer names it."""
    @property
    def instrument(self) -> int:
        """Only of this instrument; zero: of all."""
    @property
    def source(self) -> int:
        """As in CancelOrder::source."""
    @property
    def account(self) -> int:
        """Only for this account, with of_account."""
    @property
    def side(self) -> Side:
        """Only of this side, with of_side."""
    @property
    def flags(self) -> int:
        """What is given."""
    def copy(self) -> CancelAll:
        """A copy that stays valid beyond the call."""

@final
class Statistics:
    """What has traded in an instrument on this day."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def open(self) -> int:
        """Price of the first trade, or Price::NONE."""
    @property
    def high(self) -> int:
        """Highest price of a trade, or Price::NONE."""
    @property
    def low(self) -> int:
        """Lowest price of a trade, or Price::NONE."""
    @property
    def last(self) -> int:
        """Price of the last trade, or Price::NONE."""
    @property
    def volume(self) -> int:
        """How much has traded."""
    @property
    def trades(self) -> int:
        """Number of trades."""
    @property
    def trade_id(self) -> int:
        """Number of the last trade that is counted, or zero."""
    @property
    def turnover(self) -> int:
        """What was paid for it, exactly."""
    @property
    def event_time(self) -> int:
        """The market's own time."""
    @property
    def sequence(self) -> int:
        """The market's number of the last event before it."""
    def copy(self) -> Statistics:
        """A copy that stays valid beyond the call."""

@final
class ClientOrder:
    """Who is behind the order that follows it in the same batch: a client of the gateway. td passes it over; the gateway reads it back after a restart, and a recording of the journal says for ever whose an order was."""

    @property
    def order_id(self) -> int:
        """The order."""
    @property
    def token(self) -> int:
        """The token that it came with, by its public number."""
    @property
    def client_id(self) -> str:
        """What the client calls it, unique among the orders for the account; empty: nothing."""
    @property
    def address(self) -> str:
        """The client's address, as text; 'unix' for a local socket."""
    @property
    def account(self) -> int:
        """For which account."""
    @property
    def flags(self) -> int:
        """What becomes of it."""
    def copy(self) -> ClientOrder:
        """A copy that stays valid beyond the call."""

@final
class KeptOrder:
    """An order of a client of the gateway that works, again: the gateway writes it before the ring passes the frames of the order itself, so that its successor still finds the owner. td passes it over."""

    @property
    def order_id(self) -> int:
        """The order."""
    @property
    def token(self) -> int:
        """The token that it came with, by its public number."""
    @property
    def sent(self) -> int:
        """Time of the frame that brought it."""
    @property
    def price(self) -> int:
        """Limit price of the order as it was sent."""
    @property
    def quantity(self) -> int:
        """Its quantity as it was sent."""
    @property
    def trigger(self) -> int:
        """The price that a stop waits for; otherwise zero."""
    @property
    def client_id(self) -> str:
        """What the client calls it; empty: nothing."""
    @property
    def address(self) -> str:
        """The client's address, as text; 'unix' for a local socket."""
    @property
    def instrument(self) -> int:
        """What to trade."""
    @property
    def account(self) -> int:
        """For which account."""
    @property
    def display_lots(self) -> int:
        """How many lots of it the book shows at a time; zero: all."""
    @property
    def minimum_lots(self) -> int:
        """It trades at least so many lots at once, or nothing; zero: any quantity."""
    @property
    def ends_s(self) -> int:
        """With TimeInForce::GoodTillDate: when it ends, in seconds of the market's time; otherwise zero."""
    @property
    def flags(self) -> int:
        """What becomes of it."""
    @property
    def conditions(self) -> int:
        """The flags of the NewOrder."""
    @property
    def side(self) -> Side:
        """Buy or sell."""
    @property
    def order_type(self) -> OrderType:
        """Limit or market."""
    @property
    def time_in_force(self) -> TimeInForce:
        """How long it lives."""
    def copy(self) -> KeptOrder:
        """A copy that stays valid beyond the call."""

@final
class OrderUpdate:
    """An order's state changed, or a request about it was refused."""

    @property
    def order_id(self) -> int:
        """Which order."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    @property
    def side(self) -> Side:
        """Its side."""
    @property
    def status(self) -> OrderStatus:
        """Its status after this."""
    @property
    def reason(self) -> Reason:
        """Why, when rejected or cancelled."""
    @property
    def price(self) -> int:
        """Its limit price."""
    @property
    def quantity(self) -> int:
        """Its total quantity."""
    @property
    def filled(self) -> int:
        """How much of it has traded."""
    @property
    def remaining(self) -> int:
        """How much of it still works; zero once final."""
    @property
    def event_time(self) -> int:
        """Market time of the event that caused it; zero where there is none: in what td refuses, and in rejections beside a recorded or quoted market to which requests take no time. It may go back once: in the ends of orders whose books were lost, which have the time of the order's last update."""
    @property
    def execution(self) -> int:
        """Position in matching.executions of the frame that this passes on or restates: set by td in reports and by the ledger in snapshots. Zero in matching.executions itself, and in a refusal by td, which passes nothing on."""
    @property
    def answered_up_to(self) -> int:
        """Position in td.orders of the last request that matching had taken when it wrote this: it, and all before it, are answered. Zero before the first request, and in a refusal by td."""
    @property
    def refused_request(self) -> int:
        """In a refusal by td: position of the refused request in its strategy's journal of orders. Otherwise zero."""
    @property
    def reported_up_to(self) -> int:
        """In a refusal by td: position in matching.executions of the last frame that td had passed on in this journal of reports. Otherwise zero."""
    def copy(self) -> OrderUpdate:
        """A copy that stays valid beyond the call."""

@final
class Fill:
    """Part of an order traded. Followed by an OrderUpdate with the order's state."""

    @property
    def order_id(self) -> int:
        """Which order."""
    @property
    def trade_id(self) -> int:
        """The engine's number of the trade; two of our own orders that trade with each other share it."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    @property
    def side(self) -> Side:
        """Its side."""
    @property
    def liquidity(self) -> Liquidity:
        """Whether it rested."""
    @property
    def price(self) -> int:
        """At which price."""
    @property
    def quantity(self) -> int:
        """How much."""
    @property
    def remaining(self) -> int:
        """How much of the order still works."""
    @property
    def event_time(self) -> int:
        """Market time of the event that caused it, or zero."""
    @property
    def execution(self) -> int:
        """As in OrderUpdate::execution."""
    @property
    def answered_up_to(self) -> int:
        """As in OrderUpdate::answered_up_to."""
    def copy(self) -> Fill:
        """A copy that stays valid beyond the call."""

@final
class SnapshotBegin:
    """The begin of a snapshot of one strategy, or of all."""

    @property
    def snapshot(self) -> int:
        """Number of this snapshot; the end carries the same."""
    @property
    def execution(self) -> int:
        """Position in matching.executions before which executions are contained in it: those from it on are new."""
    @property
    def strategy(self) -> int:
        """For whom; u16::MAX: for everybody."""
    @property
    def generation(self) -> int:
        """Generation of the seat that it is for: a restarted strategy ignores its predecessor's."""
    @property
    def trade(self) -> int:
        """Number of the last trade in the executions that it contains: a restarted matching continues after it."""
    def copy(self) -> SnapshotBegin:
        """A copy that stays valid beyond the call."""

@final
class SnapshotEnd:
    """The end of the snapshot of the same number: it is whole."""

    @property
    def snapshot(self) -> int:
        """As in SnapshotBegin."""
    @property
    def frames(self) -> int:
        """Frames between begin and end."""
    @property
    def strategy(self) -> int:
        """For whom."""
    @property
    def generation(self) -> int:
        """As in SnapshotBegin."""
    def copy(self) -> SnapshotEnd:
        """A copy that stays valid beyond the call."""

@final
class PositionState:
    """One strategy's position in one instrument."""

    @property
    def strategy(self) -> int:
        """Whose."""
    @property
    def instrument(self) -> int:
        """In what."""
    @property
    def position(self) -> int:
        """Signed: short is negative."""
    @property
    def average_price(self) -> int:
        """Average price of what is open; zero when flat."""
    @property
    def realised(self) -> int:
        """Profit and loss of what was closed, rounded towards zero."""
    @property
    def unrealised(self) -> int:
        """Profit and loss of what is open, at mark_price, rounded towards zero."""
    @property
    def mark_price(self) -> int:
        """Latest mid, or last trade; Price::NONE before the first."""
    @property
    def bought(self) -> int:
        """All that was bought."""
    @property
    def sold(self) -> int:
        """All that was sold."""
    @property
    def fills(self) -> int:
        """Number of fills."""
    @property
    def orders(self) -> int:
        """Number of orders that matching accepted."""
    @property
    def cash(self) -> int:
        """What sales brought less what purchases cost, exactly."""
    def copy(self) -> PositionState:
        """A copy that stays valid beyond the call."""

@final
class NodeEvent:
    """A node joined or left. Written by master."""

    @property
    def generation(self) -> int:
        """Grows with every start in this seat."""
    @property
    def seat(self) -> int:
        """The seat."""
    @property
    def change(self) -> NodeChange:
        """What happened."""
    @property
    def role(self) -> NodeRole:
        """What the node is."""
    @property
    def pid(self) -> int:
        """Process id, in its own pid namespace."""
    @property
    def exit_code(self) -> int:
        """Exit code, or 128 + signal, once it left or died and if known; else -1."""
    def copy(self) -> NodeEvent:
        """A copy that stays valid beyond the call."""

@final
class EndOfStream:
    """The end of md's journal: nothing follows it in this run."""

    @property
    def quotes(self) -> int:
        """Quotes published."""
    @property
    def trades(self) -> int:
        """Trade prints published."""
    @property
    def book_events(self) -> int:
        """Order-flow events published."""
    @property
    def source_messages(self) -> int:
        """Messages (rows, records) read from the source."""
    @property
    def skipped(self) -> int:
        """Of those: left out on purpose (out of the time window, of a kind without effect on the book)."""
    @property
    def rejected(self) -> int:
        """Of those: not understood. Zero unless the config tolerates them."""
    def copy(self) -> EndOfStream:
        """A copy that stays valid beyond the call."""

@final
class OrderImage:
    """A working order as it stands; open zero: it works no more."""

    @property
    def order_id(self) -> int:
        """Which one."""
    @property
    def price(self) -> int:
        """Its limit price; Price::NONE if it has none."""
    @property
    def open(self) -> int:
        """How much of it still works."""
    @property
    def filled(self) -> int:
        """How much of it has traded."""
    @property
    def display(self) -> int:
        """How much an iceberg shows at a time; zero: all."""
    @property
    def shown(self) -> int:
        """How much of an iceberg is shown now."""
    @property
    def trigger_ticks(self) -> int:
        """What a stop waits for, as a number of ticks."""
    @property
    def ends(self) -> int:
        """When it ends; the largest number: by no date."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    @property
    def account(self) -> int:
        """For which account."""
    @property
    def age_number(self) -> int:
        """Which order is older: it grows with every order that comes in or loses its place, and wraps."""
    @property
    def bits(self) -> int:
        """What is true of it, in matching's own bits."""
    @property
    def behind(self) -> int:
        """The age_number of the last order that came in when this one went behind the others at its price."""
    @property
    def turn(self) -> int:
        """Of several that went there meanwhile, the which."""
    @property
    def strategy(self) -> int:
        """By which strategy."""
    @property
    def rests(self) -> int:
        """1: it stands in the book; 0: it waits outside of it."""
    def copy(self) -> OrderImage:
        """A copy that stays valid beyond the call."""

@final
class MarketImage:
    """What an instrument's market is doing, beside its orders."""

    @property
    def instrument(self) -> int:
        """Which instrument."""
    @property
    def phase(self) -> TradingPhase:
        """Its phase."""
    @property
    def last_price(self) -> int:
        """The price of its last trade; Price::NONE before the first."""
    @property
    def auction_ends(self) -> int:
        """When its volatility auction ends; the largest number: there is none."""
    @property
    def sequence(self) -> int:
        """The number of its last event in matching.market."""
    def copy(self) -> MarketImage:
        """A copy that stays valid beyond the call."""

@final
class NewestOrder:
    """The newest order of a strategy: no order may have its number or an older one again."""

    @property
    def order_id(self) -> int:
        """Its number."""
    def copy(self) -> NewestOrder:
        """A copy that stays valid beyond the call."""

@final
class StateEnd:
    """The images before it are a whole state."""

    @property
    def request(self) -> int:
        """Position of the last request in td.orders that it contains."""
    @property
    def time(self) -> int:
        """The exchange's time."""
    @property
    def execution(self) -> int:
        """Position in matching.executions of what was written next."""
    @property
    def executions(self) -> int:
        """Frames in matching.executions until then."""
    @property
    def market(self) -> int:
        """Position in matching.market of what was written next; beside a recorded or quoted market: of the last message of md.flow or md.quotes that it contains."""
    @property
    def base(self) -> int:
        """Position in this journal from which on there is an image of everything."""
    @property
    def trade(self) -> int:
        """Number of the last trade."""
    @property
    def orders(self) -> int:
        """Working orders."""
    @property
    def age_number(self) -> int:
        """The newest OrderImage::age_number; beside a recorded or quoted market: places of records."""
    @property
    def instruments(self) -> int:
        """Instruments that are listed."""
    @property
    def ended(self) -> int:
        """1: the day is over."""
    def copy(self) -> StateEnd:
        """A copy that stays valid beyond the call."""

@final
class DueTime:
    """What is due at a time is done now: behind this request, and before the next."""

    @property
    def request(self) -> int:
        """Position in td.orders."""
    @property
    def time(self) -> int:
        """The time."""
    def copy(self) -> DueTime:
        """A copy that stays valid beyond the call."""

@final
class StateBegin:
    """A matching process begins with empty books: what came before is void."""

    @property
    def generation(self) -> int:
        """Generation of the process."""
    def copy(self) -> StateBegin:
        """A copy that stays valid beyond the call."""

@final
class RecordImage:
    """An order in the book beside a recorded or quoted market, the market's or a strategy's, at its place among the records. A link that is the largest number leads nowhere."""

    @property
    def reference(self) -> int:
        """The number of a strategy's order, the market's reference of one of the market."""
    @property
    def price(self) -> int:
        """Its limit price."""
    @property
    def open(self) -> int:
        """How much of it still works."""
    @property
    def quantity(self) -> int:
        """Of a strategy's order: the total ever asked for."""
    @property
    def taken(self) -> int:
        """Of the market's: how much of it strategies took."""
    @property
    def place(self) -> int:
        """Its place."""
    @property
    def next(self) -> int:
        """Who is behind it at its price."""
    @property
    def previous(self) -> int:
        """Who is before it at its price."""
    @property
    def peer_next(self) -> int:
        """The same strategy's next order."""
    @property
    def peer_previous(self) -> int:
        """The same strategy's order before it."""
    @property
    def account(self) -> int:
        """For which account, where that matters."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    @property
    def side(self) -> Side:
        """Its side."""
    @property
    def owner_kind(self) -> int:
        """0: nothing is at this place; 1: the market's; 2: a strategy's; 3: a strategy's that may not take."""
    def copy(self) -> RecordImage:
        """A copy that stays valid beyond the call."""

@final
class BookImage:
    """What is known of an instrument beside a recorded or quoted market, besides its orders. As many TakenImage as it says follow."""

    @property
    def instrument(self) -> int:
        """Which instrument."""
    @property
    def bits(self) -> int:
        """What is true of it, in matching's own bits."""
    @property
    def event_time(self) -> int:
        """The market's time of its latest message."""
    @property
    def carried(self) -> int:
        """Orders that were swept away and of which strategies had taken something."""
    def copy(self) -> BookImage:
        """A copy that stays valid beyond the call."""

@final
class TakenImage:
    """What strategies had taken of an order of the market that was swept away and may come again."""

    @property
    def reference(self) -> int:
        """The market's reference."""
    @property
    def taken(self) -> int:
        """How much."""
    @property
    def instrument(self) -> int:
        """Its instrument."""
    def copy(self) -> TakenImage:
        """A copy that stays valid beyond the call."""

@final
class MarketRead:
    """When a request was carried out, the market had been read so far. It holds for those that follow, until the next."""

    @property
    def request(self) -> int:
        """Position in td.orders of the request."""
    @property
    def market(self) -> int:
        """Position in md.flow or md.quotes of the last message before it."""
    def copy(self) -> MarketRead:
        """A copy that stays valid beyond the call."""

@final
class AccountOpen:
    """An account begins."""

    @property
    def account(self) -> int:
        """Its number; never given out twice."""
    @property
    def group(self) -> int:
        """Its group; zero: none."""
    @property
    def parent(self) -> int:
        """The account whose rules of fees and margin hold where there are none of its own; zero: none."""
    @property
    def kind(self) -> AccountKind:
        """By which rules it trades."""
    @property
    def method(self) -> CostMethod:
        """Which cost leaves at a close."""
    @property
    def currency(self) -> str:
        """In which money its limits and its equity are counted."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def who(self) -> str:
        """Who opens it."""
    @property
    def why(self) -> str:
        """For which reason."""
    def copy(self) -> AccountOpen:
        """A copy that stays valid beyond the call."""

@final
class AccountChange:
    """Something happens to accounts."""

    @property
    def subject(self) -> int:
        """Number of the account, group or strategy; zero for the platform."""
    @property
    def scope(self) -> AccountScope:
        """What the number is of."""
    @property
    def action(self) -> AccountAction:
        """What happens."""
    @property
    def amount(self) -> int:
        """How much; of money that comes in or goes out, otherwise zero."""
    @property
    def currency(self) -> str:
        """In which currency; otherwise empty."""
    @property
    def who(self) -> str:
        """Who does it."""
    @property
    def why(self) -> str:
        """For which reason."""
    def copy(self) -> AccountChange:
        """A copy that stays valid beyond the call."""

@final
class AccountLimit:
    """A limit is set or lifted, or a check switched."""

    @property
    def subject(self) -> int:
        """Number of the account, group or strategy; zero for the platform."""
    @property
    def scope(self) -> AccountScope:
        """What the number is of."""
    @property
    def limit(self) -> LimitKind:
        """What is limited."""
    @property
    def change(self) -> LimitChange:
        """What is done."""
    @property
    def instrument(self) -> int:
        """Only in this instrument, of position limits; zero: in each."""
    @property
    def burst(self) -> int:
        """How many may come at once, of rates."""
    @property
    def number(self) -> int:
        """The limit, where it is no money."""
    @property
    def amount(self) -> int:
        """The limit, where it is money."""
    @property
    def who(self) -> str:
        """Who does it."""
    @property
    def why(self) -> str:
        """For which reason."""
    def copy(self) -> AccountLimit:
        """A copy that stays valid beyond the call."""

@final
class FeeRule:
    """A charge on fills. For a fill the most specific rule of a number holds among those that are for such fills: of the account, its parent, everybody; among these of the instrument, the longest prefix, everything. A rule takes the place of those of the same number, account and instruments that are for some of the same fills."""

    @property
    def account(self) -> int:
        """For which account; zero: everybody."""
    @property
    def instrument(self) -> int:
        """In which instrument; zero: as prefix says."""
    @property
    def prefix(self) -> str:
        """In instruments whose names begin like this; empty: all."""
    @property
    def charge(self) -> int:
        """Which charge: of its rules one holds for a fill."""
    @property
    def kind(self) -> ChargeKind:
        """Who gets it."""
    @property
    def side(self) -> FeeSide:
        """For purchases, sales, or both."""
    @property
    def event(self) -> FeeEvent:
        """For opening, closing, or all."""
    @property
    def flags(self) -> int:
        """For orders that rested, or that came in; none of the two: for both."""
    @property
    def unit(self) -> int:
        """What it is rounded up to, in 1e-9 of the currency; zero: 1e-9."""
    @property
    def rate(self) -> int:
        """Part of what the fills are worth, in 1e-9."""
    @property
    def per_lot(self) -> int:
        """For each share, lot or contract."""
    @property
    def minimum(self) -> int:
        """Least that an order pays once it has traded so."""
    @property
    def who(self) -> str:
        """Who does it."""
    @property
    def why(self) -> str:
        """For which reason."""
    def copy(self) -> FeeRule:
        """A copy that stays valid beyond the call."""

@final
class MarginRule:
    """How much margin a position takes. The most specific rule holds, as with FeeRule."""

    @property
    def account(self) -> int:
        """For which account; zero: everybody."""
    @property
    def instrument(self) -> int:
        """In which instrument; zero: as prefix says."""
    @property
    def prefix(self) -> str:
        """In instruments whose names begin like this; empty: all."""
    @property
    def long_rate(self) -> int:
        """Of a long position, part of what it is worth, in 1e-9."""
    @property
    def short_rate(self) -> int:
        """Of a short one."""
    @property
    def long_per_lot(self) -> int:
        """Of a long position, for each lot."""
    @property
    def short_per_lot(self) -> int:
        """Of a short one."""
    @property
    def who(self) -> str:
        """Who does it."""
    @property
    def why(self) -> str:
        """For which reason."""
    def copy(self) -> MarginRule:
        """A copy that stays valid beyond the call."""

@final
class ContractTerms:
    """What the accounts need to know of an instrument."""

    @property
    def instrument(self) -> int:
        """Which one."""
    @property
    def flags(self) -> int:
        """What is true of it."""
    @property
    def symbol(self) -> str:
        """Its name."""
    @property
    def currency(self) -> str:
        """In which money it is paid."""
    @property
    def multiplier(self) -> int:
        """One lot is worth the price times this; at least 1."""
    @property
    def price_low(self) -> int:
        """Lowest price an order may have, or Price::NONE."""
    @property
    def price_high(self) -> int:
        """Highest price an order may have, or Price::NONE."""
    def copy(self) -> ContractTerms:
        """A copy that stays valid beyond the call."""

@final
class CurrencyRate:
    """What a currency is worth in the currency that the platform counts in."""

    @property
    def currency(self) -> str:
        """Which currency."""
    @property
    def rate(self) -> int:
        """In 1e-9; positive."""
    def copy(self) -> CurrencyRate:
        """A copy that stays valid beyond the call."""

@final
class SettlementPrice:
    """First step of a settlement: the price at which an instrument's positions are settled."""

    @property
    def day(self) -> int:
        """The day, as 20260131."""
    @property
    def instrument(self) -> int:
        """Of which instrument; zero: prices that were entered and not executed are taken back."""
    @property
    def price(self) -> int:
        """The price."""
    def copy(self) -> SettlementPrice:
        """A copy that stays valid beyond the call."""

@final
class Settle:
    """Second step of a settlement: all prices are there, execute it."""

    @property
    def day(self) -> int:
        """The day, as 20260131."""
    @property
    def flags(self) -> int:
        """How it is meant."""
    @property
    def who(self) -> str:
        """Who does it."""
    def copy(self) -> Settle:
        """A copy that stays valid beyond the call."""

@final
class EntryResult:
    """What became of an entry of desk.entries. If it was taken, its copy is the frame before this one: there it took effect. Without a position: those that the platform file begins with are all taken."""

    @property
    def entry(self) -> int:
        """Position of the entry in desk.entries."""
    @property
    def refusal(self) -> int:
        """Why it was refused, by the numbers of docs/accounts.md; zero: it was taken."""
    @property
    def about(self) -> int:
        """The instrument or the day that the refusal is about; otherwise zero."""
    def copy(self) -> EntryResult:
        """A copy that stays valid beyond the call."""

@final
class Mark:
    """The price at which positions count from here on."""

    @property
    def instrument(self) -> int:
        """Of which instrument."""
    @property
    def price(self) -> int:
        """The price."""
    def copy(self) -> Mark:
        """A copy that stays valid beyond the call."""

@final
class AccountState:
    """How an account stands, in its own currency. One slot of ledger.accounts, by the order of opening."""

    @property
    def account(self) -> int:
        """Which account."""
    @property
    def open_orders(self) -> int:
        """Orders at work."""
    @property
    def owner(self) -> int:
        """Whose own account it is; u16::MAX: nobody's."""
    @property
    def kind(self) -> AccountKind:
        """By which rules it trades."""
    @property
    def flags(self) -> int:
        """What is true of it."""
    @property
    def currency(self) -> str:
        """Its currency."""
    @property
    def drops(self) -> int:
        """Position in the drop copy before which everything is contained."""
    @property
    def risk_ratio(self) -> int:
        """Margin as a part of equity, in 1e-9; the largest number where there is margin and no equity."""
    @property
    def balance(self) -> int:
        """The money that is there, of all currencies."""
    @property
    def equity(self) -> int:
        """What it is worth."""
    @property
    def available(self) -> int:
        """What new orders and withdrawals may use."""
    @property
    def frozen(self) -> int:
        """What orders at work hold back."""
    @property
    def margin(self) -> int:
        """Margin of its positions."""
    @property
    def day_result(self) -> int:
        """Profit and loss since the begin of the day."""
    def copy(self) -> AccountState:
        """A copy that stays valid beyond the call."""

@final
class DeskPart:
    """Part of a snapshot of all accounts, in ledger.desk: the bytes of all parts in a row are the snapshot."""

    @property
    def drops(self) -> int:
        """Position in the drop copy before which everything is contained."""
    @property
    def part(self) -> int:
        """Number of this part, from zero."""
    @property
    def parts(self) -> int:
        """How many parts there are."""
    @property
    def length(self) -> int:
        """How many of its bytes count."""
    @property
    def bytes(self) -> bytes:
        """The bytes, as the accounts' crate writes them; zeros behind them."""
    def copy(self) -> DeskPart:
        """A copy that stays valid beyond the call."""

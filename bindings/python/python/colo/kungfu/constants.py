"""The names of `kungfu.wingchun.constants`."""

from enum import IntEnum


class Source:
    CTP = "ctp"
    XTP = "xtp"
    SIM = "sim"


class Exchange:
    BSE = "BSE"
    SSE = "SSE"
    SZE = "SZE"
    SHFE = "SHFE"
    DCE = "DCE"
    CZCE = "CZCE"
    CFFEX = "CFFEX"
    INE = "INE"
    GFEX = "GFEX"


class Region:
    CN = "CN"
    HK = "HK"


class InstrumentType(IntEnum):
    Unknown = 0
    Stock = 1
    Future = 2
    Bond = 3
    StockOption = 4
    TechStock = 5
    Fund = 6
    Index = 7
    Repo = 8
    CryptoFuture = 9
    CryptoUFuture = 10
    Crypto = 11


class PriceType(IntEnum):
    Limit = 0
    Any = 1
    FakBest5 = 2
    ForwardBest = 3
    ReverseBest = 4
    Fak = 5
    Fok = 6
    EnhancedLimit = 7
    AtAuctionLimit = 8
    AtAuction = 9


class Side(IntEnum):
    Buy = 0
    Sell = 1
    Lock = 2
    Unlock = 3
    Exec = 4
    Drop = 5
    Purchase = 6
    Redemption = 7
    Split = 8
    Merge = 9
    MarginTrade = 10
    ShortSell = 11
    RepayMargin = 12
    RepayStock = 13
    CashRepayMargin = 14
    StockRepayStock = 15
    SurplusStockTransfer = 16
    GuaranteeStockTransferIn = 17
    GuaranteeStockTransferOut = 18


class Offset(IntEnum):
    Open = 0
    Close = 1
    CloseToday = 2
    CloseYesterday = 3


class HedgeFlag(IntEnum):
    Speculation = 0


class Direction(IntEnum):
    Long = 0
    Short = 1


class OrderStatus(IntEnum):
    Unknown = 0
    Submitted = 1
    Pending = 2
    Cancelled = 3
    Error = 4
    Filled = 5
    PartialFilledNotActive = 6
    PartialFilledActive = 7
    Lost = 8
    Cancelling = 9
    Pause = 10


class ExecType(IntEnum):
    Unknown = 0
    Cancel = 1
    Trade = 2


class BsFlag(IntEnum):
    Unknown = 0
    Buy = 1
    Sell = 2


class LedgerCategory(IntEnum):
    Account = 0
    Strategy = 1


class VolumeCondition(IntEnum):
    Any = 0
    Min = 1
    All = 2


class TimeCondition(IntEnum):
    IOC = 0
    GFD = 1
    GTC = 2
    GFS = 3
    GTD = 4
    GFA = 5
    Unknown = 6


AllFinalOrderStatus = [
    OrderStatus.Filled,
    OrderStatus.Error,
    OrderStatus.PartialFilledNotActive,
    OrderStatus.Cancelled,
]

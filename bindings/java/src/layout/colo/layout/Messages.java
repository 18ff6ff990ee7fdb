// Made by `cargo xtask gen` from the constants of colo; do not edit.
package colo.layout;

/** Numbers, sizes and offsets of the messages in bytes, enumerations, flags: docs/messages.md. */
public final class Messages {
    private Messages() {}

    // Units.
    public static final int MESSAGES_VERSION = 12;
    public static final long NO_PRICE = Long.MIN_VALUE;
    public static final int PRICE_ONE = 1000000000;
    public static final int MONEY_ONE = 1000000;
    public static final long MOST_OF_BEST = 4294967295L;
    public static final int MAX_INSTRUMENTS = 4096;

    // Instrument.
    public static final int INSTRUMENT_MESSAGE = 1;
    public static final int INSTRUMENT_SIZE = 96;
    public static final int INSTRUMENT_ID = 0;
    public static final int INSTRUMENT_RESERVED = 4;
    public static final int INSTRUMENT_SYMBOL = 8;
    public static final int INSTRUMENT_TICK = 32;
    public static final int INSTRUMENT_LOT = 40;
    public static final int INSTRUMENT_PRICE_LOW = 48;
    public static final int INSTRUMENT_PRICE_HIGH = 56;
    public static final int INSTRUMENT_REFERENCE_PRICE = 64;
    public static final int INSTRUMENT_MAX_QUANTITY = 72;
    public static final int INSTRUMENT_MULTIPLIER = 80;
    public static final int INSTRUMENT_CURRENCY = 88;

    // Level.
    public static final int LEVEL_SIZE = 16;
    public static final int LEVEL_PRICE = 0;
    public static final int LEVEL_QUANTITY = 8;

    // Quote.
    public static final int QUOTE_MESSAGE = 2;
    public static final int QUOTE_SIZE = 368;
    public static final int QUOTE_INSTRUMENT = 0;
    public static final int QUOTE_FLAGS = 4;
    public static final int QUOTE_DUE = 8;
    public static final int QUOTE_EVENT_TIME = 16;
    public static final int QUOTE_SEQUENCE = 24;
    public static final int QUOTE_LAST_PRICE = 32;
    public static final int QUOTE_LAST_QUANTITY = 40;
    public static final int QUOTE_BIDS = 48;
    public static final int QUOTE_ASKS = 208;

    // TradePrint.
    public static final int TRADE_PRINT_MESSAGE = 3;
    public static final int TRADE_PRINT_SIZE = 56;
    public static final int TRADE_PRINT_INSTRUMENT = 0;
    public static final int TRADE_PRINT_AGGRESSOR = 4;
    public static final int TRADE_PRINT_RESERVED = 5;
    public static final int TRADE_PRINT_DUE = 8;
    public static final int TRADE_PRINT_EVENT_TIME = 16;
    public static final int TRADE_PRINT_SEQUENCE = 24;
    public static final int TRADE_PRINT_PRICE = 32;
    public static final int TRADE_PRINT_QUANTITY = 40;
    public static final int TRADE_PRINT_TRADE_ID = 48;

    // BookEvent.
    public static final int BOOK_EVENT_MESSAGE = 4;
    public static final int BOOK_EVENT_SIZE = 56;
    public static final int BOOK_EVENT_INSTRUMENT = 0;
    public static final int BOOK_EVENT_ACTION = 4;
    public static final int BOOK_EVENT_SIDE = 5;
    public static final int BOOK_EVENT_FLAGS = 6;
    public static final int BOOK_EVENT_ORDER_REF = 8;
    public static final int BOOK_EVENT_PRICE = 16;
    public static final int BOOK_EVENT_QUANTITY = 24;
    public static final int BOOK_EVENT_EVENT_TIME = 32;
    public static final int BOOK_EVENT_SEQUENCE = 40;
    public static final int BOOK_EVENT_RESERVED = 48;

    // MarketPhase.
    public static final int MARKET_PHASE_MESSAGE = 5;
    public static final int MARKET_PHASE_SIZE = 24;
    public static final int MARKET_PHASE_INSTRUMENT = 0;
    public static final int MARKET_PHASE_PHASE = 4;
    public static final int MARKET_PHASE_RESERVED = 5;
    public static final int MARKET_PHASE_EVENT_TIME = 8;
    public static final int MARKET_PHASE_SEQUENCE = 16;

    // Indicative.
    public static final int INDICATIVE_MESSAGE = 6;
    public static final int INDICATIVE_SIZE = 48;
    public static final int INDICATIVE_INSTRUMENT = 0;
    public static final int INDICATIVE_RESERVED = 4;
    public static final int INDICATIVE_PRICE = 8;
    public static final int INDICATIVE_QUANTITY = 16;
    public static final int INDICATIVE_IMBALANCE = 24;
    public static final int INDICATIVE_EVENT_TIME = 32;
    public static final int INDICATIVE_SEQUENCE = 40;

    // Best.
    public static final int BEST_MESSAGE = 7;
    public static final int BEST_SIZE = 32;
    public static final int BEST_BID = 0;
    public static final int BEST_ASK = 8;
    public static final int BEST_BID_QUANTITY = 16;
    public static final int BEST_ASK_QUANTITY = 20;
    public static final int BEST_DUE = 24;

    // MarketTime.
    public static final int MARKET_TIME_MESSAGE = 8;
    public static final int MARKET_TIME_SIZE = 8;
    public static final int MARKET_TIME_EVENT_TIME = 0;

    // Cause.
    public static final int CAUSE_SIZE = 40;
    public static final int CAUSE_POSITION = 0;
    public static final int CAUSE_DUE = 8;
    public static final int CAUSE_PUBLISHED = 16;
    public static final int CAUSE_RECEIVED = 24;
    public static final int CAUSE_JOURNAL = 32;
    public static final int CAUSE_RESERVED = 36;

    // NewOrder.
    public static final int NEW_ORDER_MESSAGE = 10;
    public static final int NEW_ORDER_SIZE = 96;
    public static final int NEW_ORDER_ORDER_ID = 0;
    public static final int NEW_ORDER_INSTRUMENT = 8;
    public static final int NEW_ORDER_SIDE = 12;
    public static final int NEW_ORDER_ORDER_TYPE = 13;
    public static final int NEW_ORDER_TIME_IN_FORCE = 14;
    public static final int NEW_ORDER_FLAGS = 15;
    public static final int NEW_ORDER_PRICE = 16;
    public static final int NEW_ORDER_QUANTITY = 24;
    public static final int NEW_ORDER_CAUSE = 32;
    public static final int NEW_ORDER_ACCOUNT = 72;
    public static final int NEW_ORDER_DISPLAY_LOTS = 76;
    public static final int NEW_ORDER_TRIGGER = 80;
    public static final int NEW_ORDER_MINIMUM_LOTS = 88;
    public static final int NEW_ORDER_ENDS_S = 92;

    // CancelOrder.
    public static final int CANCEL_ORDER_MESSAGE = 11;
    public static final int CANCEL_ORDER_SIZE = 16;
    public static final int CANCEL_ORDER_ORDER_ID = 0;
    public static final int CANCEL_ORDER_INSTRUMENT = 8;
    public static final int CANCEL_ORDER_SOURCE = 12;

    // ReplaceOrder.
    public static final int REPLACE_ORDER_MESSAGE = 12;
    public static final int REPLACE_ORDER_SIZE = 32;
    public static final int REPLACE_ORDER_ORDER_ID = 0;
    public static final int REPLACE_ORDER_INSTRUMENT = 8;
    public static final int REPLACE_ORDER_SOURCE = 12;
    public static final int REPLACE_ORDER_PRICE = 16;
    public static final int REPLACE_ORDER_QUANTITY = 24;

    // LatencySample.
    public static final int LATENCY_SAMPLE_MESSAGE = 13;
    public static final int LATENCY_SAMPLE_SIZE = 48;
    public static final int LATENCY_SAMPLE_ORDER_ID = 0;
    public static final int LATENCY_SAMPLE_DUE = 8;
    public static final int LATENCY_SAMPLE_PUBLISHED = 16;
    public static final int LATENCY_SAMPLE_RECEIVED = 24;
    public static final int LATENCY_SAMPLE_ORDERED = 32;
    public static final int LATENCY_SAMPLE_TAKEN = 40;

    // CancelAll.
    public static final int CANCEL_ALL_MESSAGE = 14;
    public static final int CANCEL_ALL_SIZE = 24;
    public static final int CANCEL_ALL_ORDER_ID = 0;
    public static final int CANCEL_ALL_INSTRUMENT = 8;
    public static final int CANCEL_ALL_SOURCE = 12;
    public static final int CANCEL_ALL_ACCOUNT = 16;
    public static final int CANCEL_ALL_SIDE = 20;
    public static final int CANCEL_ALL_FLAGS = 21;
    public static final int CANCEL_ALL_RESERVED = 22;

    // Statistics.
    public static final int STATISTICS_MESSAGE = 15;
    public static final int STATISTICS_SIZE = 96;
    public static final int STATISTICS_INSTRUMENT = 0;
    public static final int STATISTICS_RESERVED = 4;
    public static final int STATISTICS_OPEN = 8;
    public static final int STATISTICS_HIGH = 16;
    public static final int STATISTICS_LOW = 24;
    public static final int STATISTICS_LAST = 32;
    public static final int STATISTICS_VOLUME = 40;
    public static final int STATISTICS_TRADES = 48;
    public static final int STATISTICS_TRADE_ID = 56;
    public static final int STATISTICS_TURNOVER = 64;
    public static final int STATISTICS_EVENT_TIME = 80;
    public static final int STATISTICS_SEQUENCE = 88;

    // ClientOrder.
    public static final int CLIENT_ORDER_MESSAGE = 16;
    public static final int CLIENT_ORDER_SIZE = 120;
    public static final int CLIENT_ORDER_ORDER_ID = 0;
    public static final int CLIENT_ORDER_TOKEN = 8;
    public static final int CLIENT_ORDER_CLIENT_ID = 16;
    public static final int CLIENT_ORDER_ADDRESS = 64;
    public static final int CLIENT_ORDER_ACCOUNT = 112;
    public static final int CLIENT_ORDER_FLAGS = 116;

    // KeptOrder.
    public static final int KEPT_ORDER_MESSAGE = 17;
    public static final int KEPT_ORDER_SIZE = 176;
    public static final int KEPT_ORDER_ORDER_ID = 0;
    public static final int KEPT_ORDER_TOKEN = 8;
    public static final int KEPT_ORDER_SENT = 16;
    public static final int KEPT_ORDER_PRICE = 24;
    public static final int KEPT_ORDER_QUANTITY = 32;
    public static final int KEPT_ORDER_TRIGGER = 40;
    public static final int KEPT_ORDER_CLIENT_ID = 48;
    public static final int KEPT_ORDER_ADDRESS = 96;
    public static final int KEPT_ORDER_INSTRUMENT = 144;
    public static final int KEPT_ORDER_ACCOUNT = 148;
    public static final int KEPT_ORDER_DISPLAY_LOTS = 152;
    public static final int KEPT_ORDER_MINIMUM_LOTS = 156;
    public static final int KEPT_ORDER_ENDS_S = 160;
    public static final int KEPT_ORDER_FLAGS = 164;
    public static final int KEPT_ORDER_CONDITIONS = 166;
    public static final int KEPT_ORDER_RESERVED = 167;
    public static final int KEPT_ORDER_SIDE = 168;
    public static final int KEPT_ORDER_ORDER_TYPE = 169;
    public static final int KEPT_ORDER_TIME_IN_FORCE = 170;
    public static final int KEPT_ORDER_RESERVED_TAIL = 171;

    // OrderUpdate.
    public static final int ORDER_UPDATE_MESSAGE = 20;
    public static final int ORDER_UPDATE_SIZE = 88;
    public static final int ORDER_UPDATE_ORDER_ID = 0;
    public static final int ORDER_UPDATE_INSTRUMENT = 8;
    public static final int ORDER_UPDATE_SIDE = 12;
    public static final int ORDER_UPDATE_STATUS = 13;
    public static final int ORDER_UPDATE_REASON = 14;
    public static final int ORDER_UPDATE_RESERVED = 15;
    public static final int ORDER_UPDATE_PRICE = 16;
    public static final int ORDER_UPDATE_QUANTITY = 24;
    public static final int ORDER_UPDATE_FILLED = 32;
    public static final int ORDER_UPDATE_REMAINING = 40;
    public static final int ORDER_UPDATE_EVENT_TIME = 48;
    public static final int ORDER_UPDATE_EXECUTION = 56;
    public static final int ORDER_UPDATE_ANSWERED_UP_TO = 64;
    public static final int ORDER_UPDATE_REFUSED_REQUEST = 72;
    public static final int ORDER_UPDATE_REPORTED_UP_TO = 80;

    // Fill.
    public static final int FILL_MESSAGE = 21;
    public static final int FILL_SIZE = 72;
    public static final int FILL_ORDER_ID = 0;
    public static final int FILL_TRADE_ID = 8;
    public static final int FILL_INSTRUMENT = 16;
    public static final int FILL_SIDE = 20;
    public static final int FILL_LIQUIDITY = 21;
    public static final int FILL_RESERVED = 22;
    public static final int FILL_PRICE = 24;
    public static final int FILL_QUANTITY = 32;
    public static final int FILL_REMAINING = 40;
    public static final int FILL_EVENT_TIME = 48;
    public static final int FILL_EXECUTION = 56;
    public static final int FILL_ANSWERED_UP_TO = 64;

    // SnapshotBegin.
    public static final int SNAPSHOT_BEGIN_MESSAGE = 30;
    public static final int SNAPSHOT_BEGIN_SIZE = 40;
    public static final int SNAPSHOT_BEGIN_SNAPSHOT = 0;
    public static final int SNAPSHOT_BEGIN_EXECUTION = 8;
    public static final int SNAPSHOT_BEGIN_STRATEGY = 16;
    public static final int SNAPSHOT_BEGIN_RESERVED = 18;
    public static final int SNAPSHOT_BEGIN_GENERATION = 24;
    public static final int SNAPSHOT_BEGIN_TRADE = 32;

    // SnapshotEnd.
    public static final int SNAPSHOT_END_MESSAGE = 31;
    public static final int SNAPSHOT_END_SIZE = 32;
    public static final int SNAPSHOT_END_SNAPSHOT = 0;
    public static final int SNAPSHOT_END_FRAMES = 8;
    public static final int SNAPSHOT_END_STRATEGY = 16;
    public static final int SNAPSHOT_END_RESERVED = 18;
    public static final int SNAPSHOT_END_GENERATION = 24;

    // PositionState.
    public static final int POSITION_STATE_MESSAGE = 32;
    public static final int POSITION_STATE_SIZE = 96;
    public static final int POSITION_STATE_STRATEGY = 0;
    public static final int POSITION_STATE_RESERVED = 2;
    public static final int POSITION_STATE_INSTRUMENT = 4;
    public static final int POSITION_STATE_POSITION = 8;
    public static final int POSITION_STATE_AVERAGE_PRICE = 16;
    public static final int POSITION_STATE_REALISED = 24;
    public static final int POSITION_STATE_UNREALISED = 32;
    public static final int POSITION_STATE_MARK_PRICE = 40;
    public static final int POSITION_STATE_BOUGHT = 48;
    public static final int POSITION_STATE_SOLD = 56;
    public static final int POSITION_STATE_FILLS = 64;
    public static final int POSITION_STATE_ORDERS = 72;
    public static final int POSITION_STATE_CASH = 80;

    // NodeEvent.
    public static final int NODE_EVENT_MESSAGE = 40;
    public static final int NODE_EVENT_SIZE = 32;
    public static final int NODE_EVENT_GENERATION = 0;
    public static final int NODE_EVENT_SEAT = 8;
    public static final int NODE_EVENT_CHANGE = 10;
    public static final int NODE_EVENT_ROLE = 11;
    public static final int NODE_EVENT_PID = 12;
    public static final int NODE_EVENT_EXIT_CODE = 16;
    public static final int NODE_EVENT_RESERVED = 20;
    public static final int NODE_EVENT_RESERVED_TAIL = 24;

    // EndOfStream.
    public static final int END_OF_STREAM_MESSAGE = 41;
    public static final int END_OF_STREAM_SIZE = 48;
    public static final int END_OF_STREAM_QUOTES = 0;
    public static final int END_OF_STREAM_TRADES = 8;
    public static final int END_OF_STREAM_BOOK_EVENTS = 16;
    public static final int END_OF_STREAM_SOURCE_MESSAGES = 24;
    public static final int END_OF_STREAM_SKIPPED = 32;
    public static final int END_OF_STREAM_REJECTED = 40;

    // OrderImage.
    public static final int ORDER_IMAGE_MESSAGE = 50;
    public static final int ORDER_IMAGE_SIZE = 96;
    public static final int ORDER_IMAGE_ORDER_ID = 0;
    public static final int ORDER_IMAGE_PRICE = 8;
    public static final int ORDER_IMAGE_OPEN = 16;
    public static final int ORDER_IMAGE_FILLED = 24;
    public static final int ORDER_IMAGE_DISPLAY = 32;
    public static final int ORDER_IMAGE_SHOWN = 40;
    public static final int ORDER_IMAGE_TRIGGER_TICKS = 48;
    public static final int ORDER_IMAGE_ENDS = 56;
    public static final int ORDER_IMAGE_INSTRUMENT = 64;
    public static final int ORDER_IMAGE_ACCOUNT = 68;
    public static final int ORDER_IMAGE_AGE_NUMBER = 72;
    public static final int ORDER_IMAGE_BITS = 76;
    public static final int ORDER_IMAGE_BEHIND = 80;
    public static final int ORDER_IMAGE_TURN = 84;
    public static final int ORDER_IMAGE_STRATEGY = 88;
    public static final int ORDER_IMAGE_RESTS = 90;
    public static final int ORDER_IMAGE_RESERVED = 92;

    // MarketImage.
    public static final int MARKET_IMAGE_MESSAGE = 51;
    public static final int MARKET_IMAGE_SIZE = 32;
    public static final int MARKET_IMAGE_INSTRUMENT = 0;
    public static final int MARKET_IMAGE_PHASE = 4;
    public static final int MARKET_IMAGE_RESERVED = 5;
    public static final int MARKET_IMAGE_LAST_PRICE = 8;
    public static final int MARKET_IMAGE_AUCTION_ENDS = 16;
    public static final int MARKET_IMAGE_SEQUENCE = 24;

    // NewestOrder.
    public static final int NEWEST_ORDER_MESSAGE = 52;
    public static final int NEWEST_ORDER_SIZE = 8;
    public static final int NEWEST_ORDER_ORDER_ID = 0;

    // StateEnd.
    public static final int STATE_END_MESSAGE = 53;
    public static final int STATE_END_SIZE = 80;
    public static final int STATE_END_REQUEST = 0;
    public static final int STATE_END_TIME = 8;
    public static final int STATE_END_EXECUTION = 16;
    public static final int STATE_END_EXECUTIONS = 24;
    public static final int STATE_END_MARKET = 32;
    public static final int STATE_END_BASE = 40;
    public static final int STATE_END_TRADE = 48;
    public static final int STATE_END_ORDERS = 56;
    public static final int STATE_END_AGE_NUMBER = 64;
    public static final int STATE_END_INSTRUMENTS = 68;
    public static final int STATE_END_ENDED = 72;

    // DueTime.
    public static final int DUE_TIME_MESSAGE = 54;
    public static final int DUE_TIME_SIZE = 16;
    public static final int DUE_TIME_REQUEST = 0;
    public static final int DUE_TIME_TIME = 8;

    // StateBegin.
    public static final int STATE_BEGIN_MESSAGE = 55;
    public static final int STATE_BEGIN_SIZE = 8;
    public static final int STATE_BEGIN_GENERATION = 0;

    // RecordImage.
    public static final int RECORD_IMAGE_MESSAGE = 56;
    public static final int RECORD_IMAGE_SIZE = 72;
    public static final int RECORD_IMAGE_REFERENCE = 0;
    public static final int RECORD_IMAGE_PRICE = 8;
    public static final int RECORD_IMAGE_OPEN = 16;
    public static final int RECORD_IMAGE_QUANTITY = 24;
    public static final int RECORD_IMAGE_TAKEN = 32;
    public static final int RECORD_IMAGE_PLACE = 40;
    public static final int RECORD_IMAGE_NEXT = 44;
    public static final int RECORD_IMAGE_PREVIOUS = 48;
    public static final int RECORD_IMAGE_PEER_NEXT = 52;
    public static final int RECORD_IMAGE_PEER_PREVIOUS = 56;
    public static final int RECORD_IMAGE_ACCOUNT = 60;
    public static final int RECORD_IMAGE_INSTRUMENT = 64;
    public static final int RECORD_IMAGE_SIDE = 68;
    public static final int RECORD_IMAGE_OWNER_KIND = 69;
    public static final int RECORD_IMAGE_RESERVED = 70;

    // BookImage.
    public static final int BOOK_IMAGE_MESSAGE = 57;
    public static final int BOOK_IMAGE_SIZE = 24;
    public static final int BOOK_IMAGE_INSTRUMENT = 0;
    public static final int BOOK_IMAGE_BITS = 4;
    public static final int BOOK_IMAGE_EVENT_TIME = 8;
    public static final int BOOK_IMAGE_CARRIED = 16;

    // TakenImage.
    public static final int TAKEN_IMAGE_MESSAGE = 58;
    public static final int TAKEN_IMAGE_SIZE = 24;
    public static final int TAKEN_IMAGE_REFERENCE = 0;
    public static final int TAKEN_IMAGE_TAKEN = 8;
    public static final int TAKEN_IMAGE_INSTRUMENT = 16;
    public static final int TAKEN_IMAGE_RESERVED = 20;

    // MarketRead.
    public static final int MARKET_READ_MESSAGE = 59;
    public static final int MARKET_READ_SIZE = 16;
    public static final int MARKET_READ_REQUEST = 0;
    public static final int MARKET_READ_MARKET = 8;

    // AccountOpen.
    public static final int ACCOUNT_OPEN_MESSAGE = 60;
    public static final int ACCOUNT_OPEN_SIZE = 152;
    public static final int ACCOUNT_OPEN_ACCOUNT = 0;
    public static final int ACCOUNT_OPEN_GROUP = 4;
    public static final int ACCOUNT_OPEN_PARENT = 8;
    public static final int ACCOUNT_OPEN_KIND = 12;
    public static final int ACCOUNT_OPEN_METHOD = 13;
    public static final int ACCOUNT_OPEN_RESERVED = 14;
    public static final int ACCOUNT_OPEN_CURRENCY = 16;
    public static final int ACCOUNT_OPEN_NAME = 24;
    public static final int ACCOUNT_OPEN_WHO = 56;
    public static final int ACCOUNT_OPEN_WHY = 88;

    // AccountChange.
    public static final int ACCOUNT_CHANGE_MESSAGE = 61;
    public static final int ACCOUNT_CHANGE_SIZE = 128;
    public static final int ACCOUNT_CHANGE_SUBJECT = 0;
    public static final int ACCOUNT_CHANGE_SCOPE = 4;
    public static final int ACCOUNT_CHANGE_ACTION = 5;
    public static final int ACCOUNT_CHANGE_RESERVED = 6;
    public static final int ACCOUNT_CHANGE_AMOUNT = 8;
    public static final int ACCOUNT_CHANGE_CURRENCY = 24;
    public static final int ACCOUNT_CHANGE_WHO = 32;
    public static final int ACCOUNT_CHANGE_WHY = 64;

    // AccountLimit.
    public static final int ACCOUNT_LIMIT_MESSAGE = 62;
    public static final int ACCOUNT_LIMIT_SIZE = 136;
    public static final int ACCOUNT_LIMIT_SUBJECT = 0;
    public static final int ACCOUNT_LIMIT_SCOPE = 4;
    public static final int ACCOUNT_LIMIT_LIMIT = 5;
    public static final int ACCOUNT_LIMIT_CHANGE = 6;
    public static final int ACCOUNT_LIMIT_RESERVED = 7;
    public static final int ACCOUNT_LIMIT_INSTRUMENT = 8;
    public static final int ACCOUNT_LIMIT_BURST = 12;
    public static final int ACCOUNT_LIMIT_NUMBER = 16;
    public static final int ACCOUNT_LIMIT_AMOUNT = 24;
    public static final int ACCOUNT_LIMIT_WHO = 40;
    public static final int ACCOUNT_LIMIT_WHY = 72;

    // FeeRule.
    public static final int FEE_RULE_MESSAGE = 63;
    public static final int FEE_RULE_SIZE = 184;
    public static final int FEE_RULE_ACCOUNT = 0;
    public static final int FEE_RULE_INSTRUMENT = 4;
    public static final int FEE_RULE_PREFIX = 8;
    public static final int FEE_RULE_CHARGE = 32;
    public static final int FEE_RULE_KIND = 34;
    public static final int FEE_RULE_SIDE = 35;
    public static final int FEE_RULE_EVENT = 36;
    public static final int FEE_RULE_FLAGS = 37;
    public static final int FEE_RULE_RESERVED = 38;
    public static final int FEE_RULE_UNIT = 40;
    public static final int FEE_RULE_RATE = 48;
    public static final int FEE_RULE_PER_LOT = 56;
    public static final int FEE_RULE_MINIMUM = 72;
    public static final int FEE_RULE_WHO = 88;
    public static final int FEE_RULE_WHY = 120;

    // MarginRule.
    public static final int MARGIN_RULE_MESSAGE = 64;
    public static final int MARGIN_RULE_SIZE = 176;
    public static final int MARGIN_RULE_ACCOUNT = 0;
    public static final int MARGIN_RULE_INSTRUMENT = 4;
    public static final int MARGIN_RULE_PREFIX = 8;
    public static final int MARGIN_RULE_LONG_RATE = 32;
    public static final int MARGIN_RULE_SHORT_RATE = 40;
    public static final int MARGIN_RULE_LONG_PER_LOT = 48;
    public static final int MARGIN_RULE_SHORT_PER_LOT = 64;
    public static final int MARGIN_RULE_WHO = 80;
    public static final int MARGIN_RULE_WHY = 112;

    // ContractTerms.
    public static final int CONTRACT_TERMS_MESSAGE = 65;
    public static final int CONTRACT_TERMS_SIZE = 64;
    public static final int CONTRACT_TERMS_INSTRUMENT = 0;
    public static final int CONTRACT_TERMS_FLAGS = 4;
    public static final int CONTRACT_TERMS_SYMBOL = 8;
    public static final int CONTRACT_TERMS_CURRENCY = 32;
    public static final int CONTRACT_TERMS_MULTIPLIER = 40;
    public static final int CONTRACT_TERMS_PRICE_LOW = 48;
    public static final int CONTRACT_TERMS_PRICE_HIGH = 56;

    // CurrencyRate.
    public static final int CURRENCY_RATE_MESSAGE = 66;
    public static final int CURRENCY_RATE_SIZE = 16;
    public static final int CURRENCY_RATE_CURRENCY = 0;
    public static final int CURRENCY_RATE_RATE = 8;

    // SettlementPrice.
    public static final int SETTLEMENT_PRICE_MESSAGE = 67;
    public static final int SETTLEMENT_PRICE_SIZE = 16;
    public static final int SETTLEMENT_PRICE_DAY = 0;
    public static final int SETTLEMENT_PRICE_INSTRUMENT = 4;
    public static final int SETTLEMENT_PRICE_PRICE = 8;

    // Settle.
    public static final int SETTLE_MESSAGE = 68;
    public static final int SETTLE_SIZE = 40;
    public static final int SETTLE_DAY = 0;
    public static final int SETTLE_FLAGS = 4;
    public static final int SETTLE_WHO = 8;

    // EntryResult.
    public static final int ENTRY_RESULT_MESSAGE = 69;
    public static final int ENTRY_RESULT_SIZE = 16;
    public static final int ENTRY_RESULT_ENTRY = 0;
    public static final int ENTRY_RESULT_REFUSAL = 8;
    public static final int ENTRY_RESULT_ABOUT = 12;

    // Mark.
    public static final int MARK_MESSAGE = 70;
    public static final int MARK_SIZE = 16;
    public static final int MARK_INSTRUMENT = 0;
    public static final int MARK_RESERVED = 4;
    public static final int MARK_PRICE = 8;

    // AccountState.
    public static final int ACCOUNT_STATE_MESSAGE = 71;
    public static final int ACCOUNT_STATE_SIZE = 136;
    public static final int ACCOUNT_STATE_ACCOUNT = 0;
    public static final int ACCOUNT_STATE_OPEN_ORDERS = 4;
    public static final int ACCOUNT_STATE_OWNER = 8;
    public static final int ACCOUNT_STATE_KIND = 10;
    public static final int ACCOUNT_STATE_FLAGS = 11;
    public static final int ACCOUNT_STATE_RESERVED = 12;
    public static final int ACCOUNT_STATE_CURRENCY = 16;
    public static final int ACCOUNT_STATE_DROPS = 24;
    public static final int ACCOUNT_STATE_RISK_RATIO = 32;
    public static final int ACCOUNT_STATE_BALANCE = 40;
    public static final int ACCOUNT_STATE_EQUITY = 56;
    public static final int ACCOUNT_STATE_AVAILABLE = 72;
    public static final int ACCOUNT_STATE_FROZEN = 88;
    public static final int ACCOUNT_STATE_MARGIN = 104;
    public static final int ACCOUNT_STATE_DAY_RESULT = 120;

    // DeskPart.
    public static final int DESK_PART_MESSAGE = 72;
    public static final int DESK_PART_SIZE = 4064;
    public static final int DESK_PART_DROPS = 0;
    public static final int DESK_PART_PART = 8;
    public static final int DESK_PART_PARTS = 12;
    public static final int DESK_PART_LENGTH = 16;
    public static final int DESK_PART_RESERVED = 20;
    public static final int DESK_PART_BYTES = 24;

    // AccountAction, one byte.
    public static final int ACCOUNT_ACTION_DEPOSIT = 1;
    public static final int ACCOUNT_ACTION_WITHDRAW = 2;
    public static final int ACCOUNT_ACTION_FREEZE = 3;
    public static final int ACCOUNT_ACTION_UNFREEZE = 4;
    public static final int ACCOUNT_ACTION_CLOSE = 5;
    public static final int ACCOUNT_ACTION_KILL = 6;
    public static final int ACCOUNT_ACTION_REVIVE = 7;

    // AccountKind, one byte.
    public static final int ACCOUNT_KIND_CASH = 1;
    public static final int ACCOUNT_KIND_MARGIN = 2;
    public static final int ACCOUNT_KIND_FUTURES = 3;

    // AccountScope, one byte.
    public static final int ACCOUNT_SCOPE_ACCOUNT = 1;
    public static final int ACCOUNT_SCOPE_GROUP = 2;
    public static final int ACCOUNT_SCOPE_STRATEGY = 3;
    public static final int ACCOUNT_SCOPE_PLATFORM = 4;

    // Aggressor, one byte.
    public static final int AGGRESSOR_BUY = 1;
    public static final int AGGRESSOR_SELL = 2;
    public static final int AGGRESSOR_NONE = 3;

    // BookAction, one byte.
    public static final int BOOK_ACTION_ADD = 1;
    public static final int BOOK_ACTION_REDUCE = 2;
    public static final int BOOK_ACTION_DELETE = 3;
    public static final int BOOK_ACTION_EXECUTE = 4;
    public static final int BOOK_ACTION_MODIFY = 5;
    public static final int BOOK_ACTION_TRADE = 6;
    public static final int BOOK_ACTION_CLEAR = 7;

    // ChargeKind, one byte.
    public static final int CHARGE_KIND_FEE = 1;
    public static final int CHARGE_KIND_TAX = 2;

    // CostMethod, one byte.
    public static final int COST_METHOD_AVERAGE = 1;
    public static final int COST_METHOD_FIFO = 2;
    public static final int COST_METHOD_SETTLEMENT = 3;

    // FeeEvent, one byte.
    public static final int FEE_EVENT_ANY = 1;
    public static final int FEE_EVENT_OPEN = 2;
    public static final int FEE_EVENT_CLOSE = 3;
    public static final int FEE_EVENT_CLOSE_TODAY = 4;

    // FeeSide, one byte.
    public static final int FEE_SIDE_BOTH = 1;
    public static final int FEE_SIDE_BUY = 2;
    public static final int FEE_SIDE_SELL = 3;

    // LimitChange, one byte.
    public static final int LIMIT_CHANGE_SET = 1;
    public static final int LIMIT_CHANGE_LIFT = 2;
    public static final int LIMIT_CHANGE_ENABLE = 3;
    public static final int LIMIT_CHANGE_DISABLE = 4;

    // LimitKind, one byte.
    public static final int LIMIT_KIND_POSITION = 1;
    public static final int LIMIT_KIND_GROSS_NOTIONAL = 2;
    public static final int LIMIT_KIND_ORDER_QUANTITY = 3;
    public static final int LIMIT_KIND_ORDER_NOTIONAL = 4;
    public static final int LIMIT_KIND_ORDER_RATE = 5;
    public static final int LIMIT_KIND_MESSAGE_RATE = 6;
    public static final int LIMIT_KIND_OPEN_ORDERS = 7;
    public static final int LIMIT_KIND_LOSS = 8;
    public static final int LIMIT_KIND_REJECT_RATE = 9;
    public static final int LIMIT_KIND_RUNAWAY_RATE = 10;
    public static final int LIMIT_KIND_MARGIN_CALL = 11;
    public static final int LIMIT_KIND_FORCED_LIQUIDATION = 12;
    public static final int LIMIT_KIND_MONEY = 13;
    public static final int LIMIT_KIND_PRICE_BAND = 14;
    public static final int LIMIT_KIND_SELF_TRADE = 15;
    public static final int LIMIT_KIND_SHORT_SALE = 16;

    // Liquidity, one byte.
    public static final int LIQUIDITY_MAKER = 1;
    public static final int LIQUIDITY_TAKER = 2;

    // NodeChange, one byte.
    public static final int NODE_CHANGE_JOINED = 1;
    public static final int NODE_CHANGE_LEFT = 2;
    public static final int NODE_CHANGE_DIED = 3;
    public static final int NODE_CHANGE_PAUSED = 4;

    // NodeRole, one byte.
    public static final int NODE_ROLE_STRATEGY = 1;
    public static final int NODE_ROLE_PLATFORM = 2;

    // OrderStatus, one byte.
    public static final int ORDER_STATUS_ACCEPTED = 1;
    public static final int ORDER_STATUS_PARTIALLY_FILLED = 2;
    public static final int ORDER_STATUS_FILLED = 3;
    public static final int ORDER_STATUS_CANCELLED = 4;
    public static final int ORDER_STATUS_REJECTED = 5;
    public static final int ORDER_STATUS_REPLACED = 6;
    public static final int ORDER_STATUS_CANCEL_REJECTED = 7;
    public static final int ORDER_STATUS_REPLACE_REJECTED = 8;
    public static final int ORDER_STATUS_REDUCED = 9;
    public static final int ORDER_STATUS_TRIGGERED = 10;
    public static final int ORDER_STATUS_MASS_CANCELLED = 11;

    // OrderType, one byte.
    public static final int ORDER_TYPE_LIMIT = 1;
    public static final int ORDER_TYPE_MARKET = 2;
    public static final int ORDER_TYPE_STOP = 3;
    public static final int ORDER_TYPE_STOP_LIMIT = 4;

    // Reason, one byte.
    public static final int REASON_NONE = 1;
    public static final int REASON_REQUESTED = 2;
    public static final int REASON_UNKNOWN_INSTRUMENT = 3;
    public static final int REASON_OFF_TICK = 4;
    public static final int REASON_PRICE_BAND = 5;
    public static final int REASON_QUANTITY = 6;
    public static final int REASON_WORKING_ORDERS = 7;
    public static final int REASON_POSITION_LIMIT = 8;
    public static final int REASON_NO_LIQUIDITY = 9;
    public static final int REASON_NOT_FILLABLE = 10;
    public static final int REASON_WOULD_TRADE = 11;
    public static final int REASON_UNKNOWN_ORDER = 12;
    public static final int REASON_NOT_YOURS = 13;
    public static final int REASON_DUPLICATE_ORDER = 14;
    public static final int REASON_STRATEGY_GONE = 15;
    public static final int REASON_MARKET_CLOSED = 16;
    public static final int REASON_MALFORMED = 17;
    public static final int REASON_OVERLOAD = 18;
    public static final int REASON_CALL_AUCTION = 19;
    public static final int REASON_UNKNOWN_ACCOUNT = 20;
    public static final int REASON_SELF_TRADE = 21;
    public static final int REASON_EXPIRED = 22;
    public static final int REASON_UNSUPPORTED = 23;
    public static final int REASON_NOT_DURABLE = 24;
    public static final int REASON_INSUFFICIENT_FUNDS = 25;
    public static final int REASON_NOTIONAL_LIMIT = 26;
    public static final int REASON_ORDER_NOTIONAL = 27;
    public static final int REASON_ORDER_RATE = 28;
    public static final int REASON_MESSAGE_RATE = 29;
    public static final int REASON_SHORT_SALE = 30;
    public static final int REASON_NOT_TRADABLE = 31;
    public static final int REASON_ACCOUNT_FROZEN = 32;
    public static final int REASON_ACCOUNT_CLOSED = 33;
    public static final int REASON_KILLED = 34;
    public static final int REASON_NOT_CLOSABLE = 35;
    public static final int REASON_NO_WORST_PRICE = 36;
    public static final int REASON_FORCED_LIQUIDATION = 37;

    // Side, one byte.
    public static final int SIDE_BUY = 1;
    public static final int SIDE_SELL = 2;

    // TimeInForce, one byte.
    public static final int TIME_IN_FORCE_DAY = 1;
    public static final int TIME_IN_FORCE_IOC = 2;
    public static final int TIME_IN_FORCE_FOK = 3;
    public static final int TIME_IN_FORCE_POST_ONLY = 4;
    public static final int TIME_IN_FORCE_GTC = 5;
    public static final int TIME_IN_FORCE_GTD = 6;
    public static final int TIME_IN_FORCE_AT_THE_OPEN = 7;
    public static final int TIME_IN_FORCE_AT_THE_CLOSE = 8;

    // TradingPhase, one byte.
    public static final int TRADING_PHASE_CLOSED = 1;
    public static final int TRADING_PHASE_PRE_OPEN = 2;
    public static final int TRADING_PHASE_OPENING_AUCTION = 3;
    public static final int TRADING_PHASE_OPENING_FREEZE = 4;
    public static final int TRADING_PHASE_PAUSE = 5;
    public static final int TRADING_PHASE_CONTINUOUS = 6;
    public static final int TRADING_PHASE_HALT = 7;
    public static final int TRADING_PHASE_VOLATILITY_AUCTION = 8;
    public static final int TRADING_PHASE_CLOSING_AUCTION = 9;
    public static final int TRADING_PHASE_CLOSING_FREEZE = 10;

    // AccountStateFlags: bits.
    public static final int ACCOUNT_STATE_FLAGS_FROZEN = 1;
    public static final int ACCOUNT_STATE_FLAGS_CLOSED = 2;
    public static final int ACCOUNT_STATE_FLAGS_KILLED = 4;

    // BookEventFlags: bits.
    public static final int BOOK_EVENT_FLAGS_LOSES_PRIORITY = 1;
    public static final int BOOK_EVENT_FLAGS_IS_LAST = 2;
    public static final int BOOK_EVENT_FLAGS_CALL_AUCTION = 4;
    public static final int BOOK_EVENT_FLAGS_IS_SNAPSHOT = 8;
    public static final int BOOK_EVENT_FLAGS_IS_HIDDEN = 16;
    public static final int BOOK_EVENT_FLAGS_HAS_NO_SIDE = 32;
    public static final int BOOK_EVENT_FLAGS_IS_UNPRINTED = 64;

    // CancelAllFlags: bits.
    public static final int CANCEL_ALL_FLAGS_OF_ACCOUNT = 1;
    public static final int CANCEL_ALL_FLAGS_OF_SIDE = 2;

    // ClientOrderFlags: bits.
    public static final int CLIENT_ORDER_FLAGS_ENDS_WITH_SESSION = 1;

    // ContractTermsFlags: bits.
    public static final int CONTRACT_TERMS_FLAGS_TRADABLE = 1;
    public static final int CONTRACT_TERMS_FLAGS_SHORTABLE = 2;
    public static final int CONTRACT_TERMS_FLAGS_TODAY_APART = 4;

    // FeeRuleFlags: bits.
    public static final int FEE_RULE_FLAGS_MAKER = 1;
    public static final int FEE_RULE_FLAGS_TAKER = 2;

    // KeptOrderFlags: bits.
    public static final int KEPT_ORDER_FLAGS_ENDS_WITH_SESSION = 1;
    public static final int KEPT_ORDER_FLAGS_MUST_END = 2;

    // NewOrderFlags: bits.
    public static final int NEW_ORDER_FLAGS_IS_POST_ONLY = 1;
    public static final int NEW_ORDER_FLAGS_CANCEL_NEWEST = 2;
    public static final int NEW_ORDER_FLAGS_CANCEL_OLDEST = 4;
    public static final int NEW_ORDER_FLAGS_DECREMENT = 8;
    public static final int NEW_ORDER_FLAGS_OFFSET_OPEN = 16;
    public static final int NEW_ORDER_FLAGS_OFFSET_TODAY = 32;
    public static final int NEW_ORDER_FLAGS_OFFSET_YESTERDAY = 64;
    public static final int NEW_ORDER_FLAGS_FORCED = 128;

    // QuoteFlags: bits.
    public static final int QUOTE_FLAGS_CALL_AUCTION = 1;

    // SettleFlags: bits.
    public static final int SETTLE_FLAGS_FORCED_SETTLEMENT = 1;
}

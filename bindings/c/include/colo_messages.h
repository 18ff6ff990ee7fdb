/*
 * The messages byte by byte: docs/messages.md says what each field holds.
 * Made by `cargo xtask gen` from the constants of colo; do not edit.
 */
#ifndef COLO_MESSAGES_H
#define COLO_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define COLO_HOLDS(condition, what) static_assert(condition, what)
#else
#define COLO_HOLDS(condition, what) _Static_assert(condition, what)
#endif

/* Units. */
#define COLO_MESSAGES_VERSION 12u /* grows with every change of a message */
#define COLO_NO_PRICE INT64_MIN /* a price that is none */
#define COLO_PRICE_ONE 1000000000u /* one unit of the currency as a price */
#define COLO_MONEY_ONE 1000000u /* one unit of the currency as money */
#define COLO_MOST_OF_BEST 4294967295u /* a quantity of Best: at least so much */
#define COLO_MAX_INSTRUMENTS 4096u /* instruments are 1 to one less */

/* AccountAction, one byte. */
#define COLO_ACCOUNT_ACTION_DEPOSIT 1u
#define COLO_ACCOUNT_ACTION_WITHDRAW 2u
#define COLO_ACCOUNT_ACTION_FREEZE 3u
#define COLO_ACCOUNT_ACTION_UNFREEZE 4u
#define COLO_ACCOUNT_ACTION_CLOSE 5u
#define COLO_ACCOUNT_ACTION_KILL 6u
#define COLO_ACCOUNT_ACTION_REVIVE 7u

/* AccountKind, one byte. */
#define COLO_ACCOUNT_KIND_CASH 1u
#define COLO_ACCOUNT_KIND_MARGIN 2u
#define COLO_ACCOUNT_KIND_FUTURES 3u

/* AccountScope, one byte. */
#define COLO_ACCOUNT_SCOPE_ACCOUNT 1u
#define COLO_ACCOUNT_SCOPE_GROUP 2u
#define COLO_ACCOUNT_SCOPE_STRATEGY 3u
#define COLO_ACCOUNT_SCOPE_PLATFORM 4u

/* Aggressor, one byte. */
#define COLO_AGGRESSOR_BUY 1u
#define COLO_AGGRESSOR_SELL 2u
#define COLO_AGGRESSOR_NONE 3u

/* BookAction, one byte. */
#define COLO_BOOK_ACTION_ADD 1u
#define COLO_BOOK_ACTION_REDUCE 2u
#define COLO_BOOK_ACTION_DELETE 3u
#define COLO_BOOK_ACTION_EXECUTE 4u
#define COLO_BOOK_ACTION_MODIFY 5u
#define COLO_BOOK_ACTION_TRADE 6u
#define COLO_BOOK_ACTION_CLEAR 7u

/* ChargeKind, one byte. */
#define COLO_CHARGE_KIND_FEE 1u
#define COLO_CHARGE_KIND_TAX 2u

/* CostMethod, one byte. */
#define COLO_COST_METHOD_AVERAGE 1u
#define COLO_COST_METHOD_FIFO 2u
#define COLO_COST_METHOD_SETTLEMENT 3u

/* FeeEvent, one byte. */
#define COLO_FEE_EVENT_ANY 1u
#define COLO_FEE_EVENT_OPEN 2u
#define COLO_FEE_EVENT_CLOSE 3u
#define COLO_FEE_EVENT_CLOSE_TODAY 4u

/* FeeSide, one byte. */
#define COLO_FEE_SIDE_BOTH 1u
#define COLO_FEE_SIDE_BUY 2u
#define COLO_FEE_SIDE_SELL 3u

/* LimitChange, one byte. */
#define COLO_LIMIT_CHANGE_SET 1u
#define COLO_LIMIT_CHANGE_LIFT 2u
#define COLO_LIMIT_CHANGE_ENABLE 3u
#define COLO_LIMIT_CHANGE_DISABLE 4u

/* LimitKind, one byte. */
#define COLO_LIMIT_KIND_POSITION 1u
#define COLO_LIMIT_KIND_GROSS_NOTIONAL 2u
#define COLO_LIMIT_KIND_ORDER_QUANTITY 3u
#define COLO_LIMIT_KIND_ORDER_NOTIONAL 4u
#define COLO_LIMIT_KIND_ORDER_RATE 5u
#define COLO_LIMIT_KIND_MESSAGE_RATE 6u
#define COLO_LIMIT_KIND_OPEN_ORDERS 7u
#define COLO_LIMIT_KIND_LOSS 8u
#define COLO_LIMIT_KIND_REJECT_RATE 9u
#define COLO_LIMIT_KIND_RUNAWAY_RATE 10u
#define COLO_LIMIT_KIND_MARGIN_CALL 11u
#define COLO_LIMIT_KIND_FORCED_LIQUIDATION 12u
#define COLO_LIMIT_KIND_MONEY 13u
#define COLO_LIMIT_KIND_PRICE_BAND 14u
#define COLO_LIMIT_KIND_SELF_TRADE 15u
#define COLO_LIMIT_KIND_SHORT_SALE 16u

/* Liquidity, one byte. */
#define COLO_LIQUIDITY_MAKER 1u
#define COLO_LIQUIDITY_TAKER 2u

/* NodeChange, one byte. */
#define COLO_NODE_CHANGE_JOINED 1u
#define COLO_NODE_CHANGE_LEFT 2u
#define COLO_NODE_CHANGE_DIED 3u
#define COLO_NODE_CHANGE_PAUSED 4u

/* NodeRole, one byte. */
#define COLO_NODE_ROLE_STRATEGY 1u
#define COLO_NODE_ROLE_PLATFORM 2u

/* OrderStatus, one byte. */
#define COLO_ORDER_STATUS_ACCEPTED 1u
#define COLO_ORDER_STATUS_PARTIALLY_FILLED 2u
#define COLO_ORDER_STATUS_FILLED 3u
#define COLO_ORDER_STATUS_CANCELLED 4u
#define COLO_ORDER_STATUS_REJECTED 5u
#define COLO_ORDER_STATUS_REPLACED 6u
#define COLO_ORDER_STATUS_CANCEL_REJECTED 7u
#define COLO_ORDER_STATUS_REPLACE_REJECTED 8u
#define COLO_ORDER_STATUS_REDUCED 9u
#define COLO_ORDER_STATUS_TRIGGERED 10u
#define COLO_ORDER_STATUS_MASS_CANCELLED 11u

/* OrderType, one byte. */
#define COLO_ORDER_TYPE_LIMIT 1u
#define COLO_ORDER_TYPE_MARKET 2u
#define COLO_ORDER_TYPE_STOP 3u
#define COLO_ORDER_TYPE_STOP_LIMIT 4u

/* Reason, one byte. */
#define COLO_REASON_NONE 1u
#define COLO_REASON_REQUESTED 2u
#define COLO_REASON_UNKNOWN_INSTRUMENT 3u
#define COLO_REASON_OFF_TICK 4u
#define COLO_REASON_PRICE_BAND 5u
#define COLO_REASON_QUANTITY 6u
#define COLO_REASON_WORKING_ORDERS 7u
#define COLO_REASON_POSITION_LIMIT 8u
#define COLO_REASON_NO_LIQUIDITY 9u
#define COLO_REASON_NOT_FILLABLE 10u
#define COLO_REASON_WOULD_TRADE 11u
#define COLO_REASON_UNKNOWN_ORDER 12u
#define COLO_REASON_NOT_YOURS 13u
#define COLO_REASON_DUPLICATE_ORDER 14u
#define COLO_REASON_STRATEGY_GONE 15u
#define COLO_REASON_MARKET_CLOSED 16u
#define COLO_REASON_MALFORMED 17u
#define COLO_REASON_OVERLOAD 18u
#define COLO_REASON_CALL_AUCTION 19u
#define COLO_REASON_UNKNOWN_ACCOUNT 20u
#define COLO_REASON_SELF_TRADE 21u
#define COLO_REASON_EXPIRED 22u
#define COLO_REASON_UNSUPPORTED 23u
#define COLO_REASON_NOT_DURABLE 24u
#define COLO_REASON_INSUFFICIENT_FUNDS 25u
#define COLO_REASON_NOTIONAL_LIMIT 26u
#define COLO_REASON_ORDER_NOTIONAL 27u
#define COLO_REASON_ORDER_RATE 28u
#define COLO_REASON_MESSAGE_RATE 29u
#define COLO_REASON_SHORT_SALE 30u
#define COLO_REASON_NOT_TRADABLE 31u
#define COLO_REASON_ACCOUNT_FROZEN 32u
#define COLO_REASON_ACCOUNT_CLOSED 33u
#define COLO_REASON_KILLED 34u
#define COLO_REASON_NOT_CLOSABLE 35u
#define COLO_REASON_NO_WORST_PRICE 36u
#define COLO_REASON_FORCED_LIQUIDATION 37u

/* Side, one byte. */
#define COLO_SIDE_BUY 1u
#define COLO_SIDE_SELL 2u

/* TimeInForce, one byte. */
#define COLO_TIME_IN_FORCE_DAY 1u
#define COLO_TIME_IN_FORCE_IOC 2u
#define COLO_TIME_IN_FORCE_FOK 3u
#define COLO_TIME_IN_FORCE_POST_ONLY 4u
#define COLO_TIME_IN_FORCE_GTC 5u
#define COLO_TIME_IN_FORCE_GTD 6u
#define COLO_TIME_IN_FORCE_AT_THE_OPEN 7u
#define COLO_TIME_IN_FORCE_AT_THE_CLOSE 8u

/* TradingPhase, one byte. */
#define COLO_TRADING_PHASE_CLOSED 1u
#define COLO_TRADING_PHASE_PRE_OPEN 2u
#define COLO_TRADING_PHASE_OPENING_AUCTION 3u
#define COLO_TRADING_PHASE_OPENING_FREEZE 4u
#define COLO_TRADING_PHASE_PAUSE 5u
#define COLO_TRADING_PHASE_CONTINUOUS 6u
#define COLO_TRADING_PHASE_HALT 7u
#define COLO_TRADING_PHASE_VOLATILITY_AUCTION 8u
#define COLO_TRADING_PHASE_CLOSING_AUCTION 9u
#define COLO_TRADING_PHASE_CLOSING_FREEZE 10u

/* AccountStateFlags: bits. */
#define COLO_ACCOUNT_STATE_FLAGS_FROZEN 1u
#define COLO_ACCOUNT_STATE_FLAGS_CLOSED 2u
#define COLO_ACCOUNT_STATE_FLAGS_KILLED 4u

/* BookEventFlags: bits. */
#define COLO_BOOK_EVENT_FLAGS_LOSES_PRIORITY 1u
#define COLO_BOOK_EVENT_FLAGS_IS_LAST 2u
#define COLO_BOOK_EVENT_FLAGS_CALL_AUCTION 4u
#define COLO_BOOK_EVENT_FLAGS_IS_SNAPSHOT 8u
#define COLO_BOOK_EVENT_FLAGS_IS_HIDDEN 16u
#define COLO_BOOK_EVENT_FLAGS_HAS_NO_SIDE 32u
#define COLO_BOOK_EVENT_FLAGS_IS_UNPRINTED 64u

/* CancelAllFlags: bits. */
#define COLO_CANCEL_ALL_FLAGS_OF_ACCOUNT 1u
#define COLO_CANCEL_ALL_FLAGS_OF_SIDE 2u

/* ClientOrderFlags: bits. */
#define COLO_CLIENT_ORDER_FLAGS_ENDS_WITH_SESSION 1u

/* ContractTermsFlags: bits. */
#define COLO_CONTRACT_TERMS_FLAGS_TRADABLE 1u
#define COLO_CONTRACT_TERMS_FLAGS_SHORTABLE 2u
#define COLO_CONTRACT_TERMS_FLAGS_TODAY_APART 4u

/* FeeRuleFlags: bits. */
#define COLO_FEE_RULE_FLAGS_MAKER 1u
#define COLO_FEE_RULE_FLAGS_TAKER 2u

/* KeptOrderFlags: bits. */
#define COLO_KEPT_ORDER_FLAGS_ENDS_WITH_SESSION 1u
#define COLO_KEPT_ORDER_FLAGS_MUST_END 2u

/* NewOrderFlags: bits. */
#define COLO_NEW_ORDER_FLAGS_IS_POST_ONLY 1u
#define COLO_NEW_ORDER_FLAGS_CANCEL_NEWEST 2u
#define COLO_NEW_ORDER_FLAGS_CANCEL_OLDEST 4u
#define COLO_NEW_ORDER_FLAGS_DECREMENT 8u
#define COLO_NEW_ORDER_FLAGS_OFFSET_OPEN 16u
#define COLO_NEW_ORDER_FLAGS_OFFSET_TODAY 32u
#define COLO_NEW_ORDER_FLAGS_OFFSET_YESTERDAY 64u
#define COLO_NEW_ORDER_FLAGS_FORCED 128u

/* QuoteFlags: bits. */
#define COLO_QUOTE_FLAGS_CALL_AUCTION 1u

/* SettleFlags: bits. */
#define COLO_SETTLE_FLAGS_FORCED_SETTLEMENT 1u

/* frame.id of each message. */
#define COLO_INSTRUMENT_MESSAGE 1u
#define COLO_QUOTE_MESSAGE 2u
#define COLO_TRADE_PRINT_MESSAGE 3u
#define COLO_BOOK_EVENT_MESSAGE 4u
#define COLO_MARKET_PHASE_MESSAGE 5u
#define COLO_INDICATIVE_MESSAGE 6u
#define COLO_BEST_MESSAGE 7u
#define COLO_MARKET_TIME_MESSAGE 8u
#define COLO_NEW_ORDER_MESSAGE 10u
#define COLO_CANCEL_ORDER_MESSAGE 11u
#define COLO_REPLACE_ORDER_MESSAGE 12u
#define COLO_LATENCY_SAMPLE_MESSAGE 13u
#define COLO_CANCEL_ALL_MESSAGE 14u
#define COLO_STATISTICS_MESSAGE 15u
#define COLO_CLIENT_ORDER_MESSAGE 16u
#define COLO_KEPT_ORDER_MESSAGE 17u
#define COLO_ORDER_UPDATE_MESSAGE 20u
#define COLO_FILL_MESSAGE 21u
#define COLO_SNAPSHOT_BEGIN_MESSAGE 30u
#define COLO_SNAPSHOT_END_MESSAGE 31u
#define COLO_POSITION_STATE_MESSAGE 32u
#define COLO_NODE_EVENT_MESSAGE 40u
#define COLO_END_OF_STREAM_MESSAGE 41u
#define COLO_ORDER_IMAGE_MESSAGE 50u
#define COLO_MARKET_IMAGE_MESSAGE 51u
#define COLO_NEWEST_ORDER_MESSAGE 52u
#define COLO_STATE_END_MESSAGE 53u
#define COLO_DUE_TIME_MESSAGE 54u
#define COLO_STATE_BEGIN_MESSAGE 55u
#define COLO_RECORD_IMAGE_MESSAGE 56u
#define COLO_BOOK_IMAGE_MESSAGE 57u
#define COLO_TAKEN_IMAGE_MESSAGE 58u
#define COLO_MARKET_READ_MESSAGE 59u
#define COLO_ACCOUNT_OPEN_MESSAGE 60u
#define COLO_ACCOUNT_CHANGE_MESSAGE 61u
#define COLO_ACCOUNT_LIMIT_MESSAGE 62u
#define COLO_FEE_RULE_MESSAGE 63u
#define COLO_MARGIN_RULE_MESSAGE 64u
#define COLO_CONTRACT_TERMS_MESSAGE 65u
#define COLO_CURRENCY_RATE_MESSAGE 66u
#define COLO_SETTLEMENT_PRICE_MESSAGE 67u
#define COLO_SETTLE_MESSAGE 68u
#define COLO_ENTRY_RESULT_MESSAGE 69u
#define COLO_MARK_MESSAGE 70u
#define COLO_ACCOUNT_STATE_MESSAGE 71u
#define COLO_DESK_PART_MESSAGE 72u

/* In billionths, 128 bits with a sign: low half first. */
typedef struct colo_wide { uint64_t low; int64_t high; } colo_wide;

/* Instrument. */
typedef struct colo_instrument {
    uint32_t id;
    uint8_t reserved[4];
    char symbol[24];
    int64_t tick;
    int64_t lot;
    int64_t price_low;
    int64_t price_high;
    int64_t reference_price;
    int64_t max_quantity;
    uint64_t multiplier;
    char currency[8];
} colo_instrument;
COLO_HOLDS(sizeof(colo_instrument) == 96, "colo_instrument");
COLO_HOLDS(offsetof(colo_instrument, id) == 0, "colo_instrument.id");
COLO_HOLDS(offsetof(colo_instrument, reserved) == 4, "colo_instrument.reserved");
COLO_HOLDS(offsetof(colo_instrument, symbol) == 8, "colo_instrument.symbol");
COLO_HOLDS(offsetof(colo_instrument, tick) == 32, "colo_instrument.tick");
COLO_HOLDS(offsetof(colo_instrument, lot) == 40, "colo_instrument.lot");
COLO_HOLDS(offsetof(colo_instrument, price_low) == 48, "colo_instrument.price_low");
COLO_HOLDS(offsetof(colo_instrument, price_high) == 56, "colo_instrument.price_high");
COLO_HOLDS(offsetof(colo_instrument, reference_price) == 64, "colo_instrument.reference_price");
COLO_HOLDS(offsetof(colo_instrument, max_quantity) == 72, "colo_instrument.max_quantity");
COLO_HOLDS(offsetof(colo_instrument, multiplier) == 80, "colo_instrument.multiplier");
COLO_HOLDS(offsetof(colo_instrument, currency) == 88, "colo_instrument.currency");

/* Level. */
typedef struct colo_level {
    int64_t price;
    int64_t quantity;
} colo_level;
COLO_HOLDS(sizeof(colo_level) == 16, "colo_level");
COLO_HOLDS(offsetof(colo_level, price) == 0, "colo_level.price");
COLO_HOLDS(offsetof(colo_level, quantity) == 8, "colo_level.quantity");

/* Quote. */
typedef struct colo_quote {
    uint32_t instrument;
    uint32_t flags;
    uint64_t due;
    uint64_t event_time;
    uint64_t sequence;
    int64_t last_price;
    int64_t last_quantity;
    colo_level bids[10];
    colo_level asks[10];
} colo_quote;
COLO_HOLDS(sizeof(colo_quote) == 368, "colo_quote");
COLO_HOLDS(offsetof(colo_quote, instrument) == 0, "colo_quote.instrument");
COLO_HOLDS(offsetof(colo_quote, flags) == 4, "colo_quote.flags");
COLO_HOLDS(offsetof(colo_quote, due) == 8, "colo_quote.due");
COLO_HOLDS(offsetof(colo_quote, event_time) == 16, "colo_quote.event_time");
COLO_HOLDS(offsetof(colo_quote, sequence) == 24, "colo_quote.sequence");
COLO_HOLDS(offsetof(colo_quote, last_price) == 32, "colo_quote.last_price");
COLO_HOLDS(offsetof(colo_quote, last_quantity) == 40, "colo_quote.last_quantity");
COLO_HOLDS(offsetof(colo_quote, bids) == 48, "colo_quote.bids");
COLO_HOLDS(offsetof(colo_quote, asks) == 208, "colo_quote.asks");

/* TradePrint. */
typedef struct colo_trade_print {
    uint32_t instrument;
    uint8_t aggressor;
    uint8_t reserved[3];
    uint64_t due;
    uint64_t event_time;
    uint64_t sequence;
    int64_t price;
    int64_t quantity;
    uint64_t trade_id;
} colo_trade_print;
COLO_HOLDS(sizeof(colo_trade_print) == 56, "colo_trade_print");
COLO_HOLDS(offsetof(colo_trade_print, instrument) == 0, "colo_trade_print.instrument");
COLO_HOLDS(offsetof(colo_trade_print, aggressor) == 4, "colo_trade_print.aggressor");
COLO_HOLDS(offsetof(colo_trade_print, reserved) == 5, "colo_trade_print.reserved");
COLO_HOLDS(offsetof(colo_trade_print, due) == 8, "colo_trade_print.due");
COLO_HOLDS(offsetof(colo_trade_print, event_time) == 16, "colo_trade_print.event_time");
COLO_HOLDS(offsetof(colo_trade_print, sequence) == 24, "colo_trade_print.sequence");
COLO_HOLDS(offsetof(colo_trade_print, price) == 32, "colo_trade_print.price");
COLO_HOLDS(offsetof(colo_trade_print, quantity) == 40, "colo_trade_print.quantity");
COLO_HOLDS(offsetof(colo_trade_print, trade_id) == 48, "colo_trade_print.trade_id");

/* BookEvent. */
typedef struct colo_book_event {
    uint32_t instrument;
    uint8_t action;
    uint8_t side;
    uint16_t flags;
    uint64_t order_ref;
    int64_t price;
    int64_t quantity;
    uint64_t event_time;
    uint64_t sequence;
    uint8_t reserved[8];
} colo_book_event;
COLO_HOLDS(sizeof(colo_book_event) == 56, "colo_book_event");
COLO_HOLDS(offsetof(colo_book_event, instrument) == 0, "colo_book_event.instrument");
COLO_HOLDS(offsetof(colo_book_event, action) == 4, "colo_book_event.action");
COLO_HOLDS(offsetof(colo_book_event, side) == 5, "colo_book_event.side");
COLO_HOLDS(offsetof(colo_book_event, flags) == 6, "colo_book_event.flags");
COLO_HOLDS(offsetof(colo_book_event, order_ref) == 8, "colo_book_event.order_ref");
COLO_HOLDS(offsetof(colo_book_event, price) == 16, "colo_book_event.price");
COLO_HOLDS(offsetof(colo_book_event, quantity) == 24, "colo_book_event.quantity");
COLO_HOLDS(offsetof(colo_book_event, event_time) == 32, "colo_book_event.event_time");
COLO_HOLDS(offsetof(colo_book_event, sequence) == 40, "colo_book_event.sequence");
COLO_HOLDS(offsetof(colo_book_event, reserved) == 48, "colo_book_event.reserved");

/* MarketPhase. */
typedef struct colo_market_phase {
    uint32_t instrument;
    uint8_t phase;
    uint8_t reserved[3];
    uint64_t event_time;
    uint64_t sequence;
} colo_market_phase;
COLO_HOLDS(sizeof(colo_market_phase) == 24, "colo_market_phase");
COLO_HOLDS(offsetof(colo_market_phase, instrument) == 0, "colo_market_phase.instrument");
COLO_HOLDS(offsetof(colo_market_phase, phase) == 4, "colo_market_phase.phase");
COLO_HOLDS(offsetof(colo_market_phase, reserved) == 5, "colo_market_phase.reserved");
COLO_HOLDS(offsetof(colo_market_phase, event_time) == 8, "colo_market_phase.event_time");
COLO_HOLDS(offsetof(colo_market_phase, sequence) == 16, "colo_market_phase.sequence");

/* Indicative. */
typedef struct colo_indicative {
    uint32_t instrument;
    uint8_t reserved[4];
    int64_t price;
    int64_t quantity;
    int64_t imbalance;
    uint64_t event_time;
    uint64_t sequence;
} colo_indicative;
COLO_HOLDS(sizeof(colo_indicative) == 48, "colo_indicative");
COLO_HOLDS(offsetof(colo_indicative, instrument) == 0, "colo_indicative.instrument");
COLO_HOLDS(offsetof(colo_indicative, reserved) == 4, "colo_indicative.reserved");
COLO_HOLDS(offsetof(colo_indicative, price) == 8, "colo_indicative.price");
COLO_HOLDS(offsetof(colo_indicative, quantity) == 16, "colo_indicative.quantity");
COLO_HOLDS(offsetof(colo_indicative, imbalance) == 24, "colo_indicative.imbalance");
COLO_HOLDS(offsetof(colo_indicative, event_time) == 32, "colo_indicative.event_time");
COLO_HOLDS(offsetof(colo_indicative, sequence) == 40, "colo_indicative.sequence");

/* Best. */
typedef struct colo_best {
    int64_t bid;
    int64_t ask;
    uint32_t bid_quantity;
    uint32_t ask_quantity;
    uint64_t due;
} colo_best;
COLO_HOLDS(sizeof(colo_best) == 32, "colo_best");
COLO_HOLDS(offsetof(colo_best, bid) == 0, "colo_best.bid");
COLO_HOLDS(offsetof(colo_best, ask) == 8, "colo_best.ask");
COLO_HOLDS(offsetof(colo_best, bid_quantity) == 16, "colo_best.bid_quantity");
COLO_HOLDS(offsetof(colo_best, ask_quantity) == 20, "colo_best.ask_quantity");
COLO_HOLDS(offsetof(colo_best, due) == 24, "colo_best.due");

/* MarketTime. */
typedef struct colo_market_time {
    uint64_t event_time;
} colo_market_time;
COLO_HOLDS(sizeof(colo_market_time) == 8, "colo_market_time");
COLO_HOLDS(offsetof(colo_market_time, event_time) == 0, "colo_market_time.event_time");

/* Cause. */
typedef struct colo_cause {
    uint64_t position;
    uint64_t due;
    uint64_t published;
    uint64_t received;
    uint32_t journal;
    uint8_t reserved[4];
} colo_cause;
COLO_HOLDS(sizeof(colo_cause) == 40, "colo_cause");
COLO_HOLDS(offsetof(colo_cause, position) == 0, "colo_cause.position");
COLO_HOLDS(offsetof(colo_cause, due) == 8, "colo_cause.due");
COLO_HOLDS(offsetof(colo_cause, published) == 16, "colo_cause.published");
COLO_HOLDS(offsetof(colo_cause, received) == 24, "colo_cause.received");
COLO_HOLDS(offsetof(colo_cause, journal) == 32, "colo_cause.journal");
COLO_HOLDS(offsetof(colo_cause, reserved) == 36, "colo_cause.reserved");

/* NewOrder. */
typedef struct colo_new_order {
    uint64_t order_id;
    uint32_t instrument;
    uint8_t side;
    uint8_t order_type;
    uint8_t time_in_force;
    uint8_t flags;
    int64_t price;
    int64_t quantity;
    colo_cause cause;
    uint32_t account;
    uint32_t display_lots;
    int64_t trigger;
    uint32_t minimum_lots;
    uint32_t ends_s;
} colo_new_order;
COLO_HOLDS(sizeof(colo_new_order) == 96, "colo_new_order");
COLO_HOLDS(offsetof(colo_new_order, order_id) == 0, "colo_new_order.order_id");
COLO_HOLDS(offsetof(colo_new_order, instrument) == 8, "colo_new_order.instrument");
COLO_HOLDS(offsetof(colo_new_order, side) == 12, "colo_new_order.side");
COLO_HOLDS(offsetof(colo_new_order, order_type) == 13, "colo_new_order.order_type");
COLO_HOLDS(offsetof(colo_new_order, time_in_force) == 14, "colo_new_order.time_in_force");
COLO_HOLDS(offsetof(colo_new_order, flags) == 15, "colo_new_order.flags");
COLO_HOLDS(offsetof(colo_new_order, price) == 16, "colo_new_order.price");
COLO_HOLDS(offsetof(colo_new_order, quantity) == 24, "colo_new_order.quantity");
COLO_HOLDS(offsetof(colo_new_order, cause) == 32, "colo_new_order.cause");
COLO_HOLDS(offsetof(colo_new_order, account) == 72, "colo_new_order.account");
COLO_HOLDS(offsetof(colo_new_order, display_lots) == 76, "colo_new_order.display_lots");
COLO_HOLDS(offsetof(colo_new_order, trigger) == 80, "colo_new_order.trigger");
COLO_HOLDS(offsetof(colo_new_order, minimum_lots) == 88, "colo_new_order.minimum_lots");
COLO_HOLDS(offsetof(colo_new_order, ends_s) == 92, "colo_new_order.ends_s");

/* CancelOrder. */
typedef struct colo_cancel_order {
    uint64_t order_id;
    uint32_t instrument;
    uint32_t source;
} colo_cancel_order;
COLO_HOLDS(sizeof(colo_cancel_order) == 16, "colo_cancel_order");
COLO_HOLDS(offsetof(colo_cancel_order, order_id) == 0, "colo_cancel_order.order_id");
COLO_HOLDS(offsetof(colo_cancel_order, instrument) == 8, "colo_cancel_order.instrument");
COLO_HOLDS(offsetof(colo_cancel_order, source) == 12, "colo_cancel_order.source");

/* ReplaceOrder. */
typedef struct colo_replace_order {
    uint64_t order_id;
    uint32_t instrument;
    uint32_t source;
    int64_t price;
    int64_t quantity;
} colo_replace_order;
COLO_HOLDS(sizeof(colo_replace_order) == 32, "colo_replace_order");
COLO_HOLDS(offsetof(colo_replace_order, order_id) == 0, "colo_replace_order.order_id");
COLO_HOLDS(offsetof(colo_replace_order, instrument) == 8, "colo_replace_order.instrument");
COLO_HOLDS(offsetof(colo_replace_order, source) == 12, "colo_replace_order.source");
COLO_HOLDS(offsetof(colo_replace_order, price) == 16, "colo_replace_order.price");
COLO_HOLDS(offsetof(colo_replace_order, quantity) == 24, "colo_replace_order.quantity");

/* LatencySample. */
typedef struct colo_latency_sample {
    uint64_t order_id;
    uint64_t due;
    uint64_t published;
    uint64_t received;
    uint64_t ordered;
    uint64_t taken;
} colo_latency_sample;
COLO_HOLDS(sizeof(colo_latency_sample) == 48, "colo_latency_sample");
COLO_HOLDS(offsetof(colo_latency_sample, order_id) == 0, "colo_latency_sample.order_id");
COLO_HOLDS(offsetof(colo_latency_sample, due) == 8, "colo_latency_sample.due");
COLO_HOLDS(offsetof(colo_latency_sample, published) == 16, "colo_latency_sample.published");
COLO_HOLDS(offsetof(colo_latency_sample, received) == 24, "colo_latency_sample.received");
COLO_HOLDS(offsetof(colo_latency_sample, ordered) == 32, "colo_latency_sample.ordered");
COLO_HOLDS(offsetof(colo_latency_sample, taken) == 40, "colo_latency_sample.taken");

/* CancelAll. */
typedef struct colo_cancel_all {
    uint64_t order_id;
    uint32_t instrument;
    uint32_t source;
    uint32_t account;
    uint8_t side;
    uint8_t flags;
    uint8_t reserved[2];
} colo_cancel_all;
COLO_HOLDS(sizeof(colo_cancel_all) == 24, "colo_cancel_all");
COLO_HOLDS(offsetof(colo_cancel_all, order_id) == 0, "colo_cancel_all.order_id");
COLO_HOLDS(offsetof(colo_cancel_all, instrument) == 8, "colo_cancel_all.instrument");
COLO_HOLDS(offsetof(colo_cancel_all, source) == 12, "colo_cancel_all.source");
COLO_HOLDS(offsetof(colo_cancel_all, account) == 16, "colo_cancel_all.account");
COLO_HOLDS(offsetof(colo_cancel_all, side) == 20, "colo_cancel_all.side");
COLO_HOLDS(offsetof(colo_cancel_all, flags) == 21, "colo_cancel_all.flags");
COLO_HOLDS(offsetof(colo_cancel_all, reserved) == 22, "colo_cancel_all.reserved");

/* Statistics. */
typedef struct colo_statistics {
    uint32_t instrument;
    uint8_t reserved[4];
    int64_t open;
    int64_t high;
    int64_t low;
    int64_t last;
    int64_t volume;
    uint64_t trades;
    uint64_t trade_id;
    colo_wide turnover;
    uint64_t event_time;
    uint64_t sequence;
} colo_statistics;
COLO_HOLDS(sizeof(colo_statistics) == 96, "colo_statistics");
COLO_HOLDS(offsetof(colo_statistics, instrument) == 0, "colo_statistics.instrument");
COLO_HOLDS(offsetof(colo_statistics, reserved) == 4, "colo_statistics.reserved");
COLO_HOLDS(offsetof(colo_statistics, open) == 8, "colo_statistics.open");
COLO_HOLDS(offsetof(colo_statistics, high) == 16, "colo_statistics.high");
COLO_HOLDS(offsetof(colo_statistics, low) == 24, "colo_statistics.low");
COLO_HOLDS(offsetof(colo_statistics, last) == 32, "colo_statistics.last");
COLO_HOLDS(offsetof(colo_statistics, volume) == 40, "colo_statistics.volume");
COLO_HOLDS(offsetof(colo_statistics, trades) == 48, "colo_statistics.trades");
COLO_HOLDS(offsetof(colo_statistics, trade_id) == 56, "colo_statistics.trade_id");
COLO_HOLDS(offsetof(colo_statistics, turnover) == 64, "colo_statistics.turnover");
COLO_HOLDS(offsetof(colo_statistics, event_time) == 80, "colo_statistics.event_time");
COLO_HOLDS(offsetof(colo_statistics, sequence) == 88, "colo_statistics.sequence");

/* ClientOrder. */
typedef struct colo_client_order {
    uint64_t order_id;
    uint64_t token;
    char client_id[48];
    char address[48];
    uint32_t account;
    uint32_t flags;
} colo_client_order;
COLO_HOLDS(sizeof(colo_client_order) == 120, "colo_client_order");
COLO_HOLDS(offsetof(colo_client_order, order_id) == 0, "colo_client_order.order_id");
COLO_HOLDS(offsetof(colo_client_order, token) == 8, "colo_client_order.token");
COLO_HOLDS(offsetof(colo_client_order, client_id) == 16, "colo_client_order.client_id");
COLO_HOLDS(offsetof(colo_client_order, address) == 64, "colo_client_order.address");
COLO_HOLDS(offsetof(colo_client_order, account) == 112, "colo_client_order.account");
COLO_HOLDS(offsetof(colo_client_order, flags) == 116, "colo_client_order.flags");

/* KeptOrder. */
typedef struct colo_kept_order {
    uint64_t order_id;
    uint64_t token;
    uint64_t sent;
    int64_t price;
    int64_t quantity;
    int64_t trigger;
    char client_id[48];
    char address[48];
    uint32_t instrument;
    uint32_t account;
    uint32_t display_lots;
    uint32_t minimum_lots;
    uint32_t ends_s;
    uint16_t flags;
    uint8_t conditions;
    uint8_t reserved[1];
    uint8_t side;
    uint8_t order_type;
    uint8_t time_in_force;
    uint8_t reserved_tail[5];
} colo_kept_order;
COLO_HOLDS(sizeof(colo_kept_order) == 176, "colo_kept_order");
COLO_HOLDS(offsetof(colo_kept_order, order_id) == 0, "colo_kept_order.order_id");
COLO_HOLDS(offsetof(colo_kept_order, token) == 8, "colo_kept_order.token");
COLO_HOLDS(offsetof(colo_kept_order, sent) == 16, "colo_kept_order.sent");
COLO_HOLDS(offsetof(colo_kept_order, price) == 24, "colo_kept_order.price");
COLO_HOLDS(offsetof(colo_kept_order, quantity) == 32, "colo_kept_order.quantity");
COLO_HOLDS(offsetof(colo_kept_order, trigger) == 40, "colo_kept_order.trigger");
COLO_HOLDS(offsetof(colo_kept_order, client_id) == 48, "colo_kept_order.client_id");
COLO_HOLDS(offsetof(colo_kept_order, address) == 96, "colo_kept_order.address");
COLO_HOLDS(offsetof(colo_kept_order, instrument) == 144, "colo_kept_order.instrument");
COLO_HOLDS(offsetof(colo_kept_order, account) == 148, "colo_kept_order.account");
COLO_HOLDS(offsetof(colo_kept_order, display_lots) == 152, "colo_kept_order.display_lots");
COLO_HOLDS(offsetof(colo_kept_order, minimum_lots) == 156, "colo_kept_order.minimum_lots");
COLO_HOLDS(offsetof(colo_kept_order, ends_s) == 160, "colo_kept_order.ends_s");
COLO_HOLDS(offsetof(colo_kept_order, flags) == 164, "colo_kept_order.flags");
COLO_HOLDS(offsetof(colo_kept_order, conditions) == 166, "colo_kept_order.conditions");
COLO_HOLDS(offsetof(colo_kept_order, reserved) == 167, "colo_kept_order.reserved");
COLO_HOLDS(offsetof(colo_kept_order, side) == 168, "colo_kept_order.side");
COLO_HOLDS(offsetof(colo_kept_order, order_type) == 169, "colo_kept_order.order_type");
COLO_HOLDS(offsetof(colo_kept_order, time_in_force) == 170, "colo_kept_order.time_in_force");
COLO_HOLDS(offsetof(colo_kept_order, reserved_tail) == 171, "colo_kept_order.reserved_tail");

/* OrderUpdate. */
typedef struct colo_order_update {
    uint64_t order_id;
    uint32_t instrument;
    uint8_t side;
    uint8_t status;
    uint8_t reason;
    uint8_t reserved[1];
    int64_t price;
    int64_t quantity;
    int64_t filled;
    int64_t remaining;
    uint64_t event_time;
    uint64_t execution;
    uint64_t answered_up_to;
    uint64_t refused_request;
    uint64_t reported_up_to;
} colo_order_update;
COLO_HOLDS(sizeof(colo_order_update) == 88, "colo_order_update");
COLO_HOLDS(offsetof(colo_order_update, order_id) == 0, "colo_order_update.order_id");
COLO_HOLDS(offsetof(colo_order_update, instrument) == 8, "colo_order_update.instrument");
COLO_HOLDS(offsetof(colo_order_update, side) == 12, "colo_order_update.side");
COLO_HOLDS(offsetof(colo_order_update, status) == 13, "colo_order_update.status");
COLO_HOLDS(offsetof(colo_order_update, reason) == 14, "colo_order_update.reason");
COLO_HOLDS(offsetof(colo_order_update, reserved) == 15, "colo_order_update.reserved");
COLO_HOLDS(offsetof(colo_order_update, price) == 16, "colo_order_update.price");
COLO_HOLDS(offsetof(colo_order_update, quantity) == 24, "colo_order_update.quantity");
COLO_HOLDS(offsetof(colo_order_update, filled) == 32, "colo_order_update.filled");
COLO_HOLDS(offsetof(colo_order_update, remaining) == 40, "colo_order_update.remaining");
COLO_HOLDS(offsetof(colo_order_update, event_time) == 48, "colo_order_update.event_time");
COLO_HOLDS(offsetof(colo_order_update, execution) == 56, "colo_order_update.execution");
COLO_HOLDS(offsetof(colo_order_update, answered_up_to) == 64, "colo_order_update.answered_up_to");
COLO_HOLDS(offsetof(colo_order_update, refused_request) == 72, "colo_order_update.refused_request");
COLO_HOLDS(offsetof(colo_order_update, reported_up_to) == 80, "colo_order_update.reported_up_to");

/* Fill. */
typedef struct colo_fill {
    uint64_t order_id;
    uint64_t trade_id;
    uint32_t instrument;
    uint8_t side;
    uint8_t liquidity;
    uint8_t reserved[2];
    int64_t price;
    int64_t quantity;
    int64_t remaining;
    uint64_t event_time;
    uint64_t execution;
    uint64_t answered_up_to;
} colo_fill;
COLO_HOLDS(sizeof(colo_fill) == 72, "colo_fill");
COLO_HOLDS(offsetof(colo_fill, order_id) == 0, "colo_fill.order_id");
COLO_HOLDS(offsetof(colo_fill, trade_id) == 8, "colo_fill.trade_id");
COLO_HOLDS(offsetof(colo_fill, instrument) == 16, "colo_fill.instrument");
COLO_HOLDS(offsetof(colo_fill, side) == 20, "colo_fill.side");
COLO_HOLDS(offsetof(colo_fill, liquidity) == 21, "colo_fill.liquidity");
COLO_HOLDS(offsetof(colo_fill, reserved) == 22, "colo_fill.reserved");
COLO_HOLDS(offsetof(colo_fill, price) == 24, "colo_fill.price");
COLO_HOLDS(offsetof(colo_fill, quantity) == 32, "colo_fill.quantity");
COLO_HOLDS(offsetof(colo_fill, remaining) == 40, "colo_fill.remaining");
COLO_HOLDS(offsetof(colo_fill, event_time) == 48, "colo_fill.event_time");
COLO_HOLDS(offsetof(colo_fill, execution) == 56, "colo_fill.execution");
COLO_HOLDS(offsetof(colo_fill, answered_up_to) == 64, "colo_fill.answered_up_to");

/* SnapshotBegin. */
typedef struct colo_snapshot_begin {
    uint64_t snapshot;
    uint64_t execution;
    uint16_t strategy;
    uint8_t reserved[6];
    uint64_t generation;
    uint64_t trade;
} colo_snapshot_begin;
COLO_HOLDS(sizeof(colo_snapshot_begin) == 40, "colo_snapshot_begin");
COLO_HOLDS(offsetof(colo_snapshot_begin, snapshot) == 0, "colo_snapshot_begin.snapshot");
COLO_HOLDS(offsetof(colo_snapshot_begin, execution) == 8, "colo_snapshot_begin.execution");
COLO_HOLDS(offsetof(colo_snapshot_begin, strategy) == 16, "colo_snapshot_begin.strategy");
COLO_HOLDS(offsetof(colo_snapshot_begin, reserved) == 18, "colo_snapshot_begin.reserved");
COLO_HOLDS(offsetof(colo_snapshot_begin, generation) == 24, "colo_snapshot_begin.generation");
COLO_HOLDS(offsetof(colo_snapshot_begin, trade) == 32, "colo_snapshot_begin.trade");

/* SnapshotEnd. */
typedef struct colo_snapshot_end {
    uint64_t snapshot;
    uint64_t frames;
    uint16_t strategy;
    uint8_t reserved[6];
    uint64_t generation;
} colo_snapshot_end;
COLO_HOLDS(sizeof(colo_snapshot_end) == 32, "colo_snapshot_end");
COLO_HOLDS(offsetof(colo_snapshot_end, snapshot) == 0, "colo_snapshot_end.snapshot");
COLO_HOLDS(offsetof(colo_snapshot_end, frames) == 8, "colo_snapshot_end.frames");
COLO_HOLDS(offsetof(colo_snapshot_end, strategy) == 16, "colo_snapshot_end.strategy");
COLO_HOLDS(offsetof(colo_snapshot_end, reserved) == 18, "colo_snapshot_end.reserved");
COLO_HOLDS(offsetof(colo_snapshot_end, generation) == 24, "colo_snapshot_end.generation");

/* PositionState. */
typedef struct colo_position_state {
    uint16_t strategy;
    uint8_t reserved[2];
    uint32_t instrument;
    int64_t position;
    int64_t average_price;
    int64_t realised;
    int64_t unrealised;
    int64_t mark_price;
    int64_t bought;
    int64_t sold;
    uint64_t fills;
    uint64_t orders;
    colo_wide cash;
} colo_position_state;
COLO_HOLDS(sizeof(colo_position_state) == 96, "colo_position_state");
COLO_HOLDS(offsetof(colo_position_state, strategy) == 0, "colo_position_state.strategy");
COLO_HOLDS(offsetof(colo_position_state, reserved) == 2, "colo_position_state.reserved");
COLO_HOLDS(offsetof(colo_position_state, instrument) == 4, "colo_position_state.instrument");
COLO_HOLDS(offsetof(colo_position_state, position) == 8, "colo_position_state.position");
COLO_HOLDS(offsetof(colo_position_state, average_price) == 16, "colo_position_state.average_price");
COLO_HOLDS(offsetof(colo_position_state, realised) == 24, "colo_position_state.realised");
COLO_HOLDS(offsetof(colo_position_state, unrealised) == 32, "colo_position_state.unrealised");
COLO_HOLDS(offsetof(colo_position_state, mark_price) == 40, "colo_position_state.mark_price");
COLO_HOLDS(offsetof(colo_position_state, bought) == 48, "colo_position_state.bought");
COLO_HOLDS(offsetof(colo_position_state, sold) == 56, "colo_position_state.sold");
COLO_HOLDS(offsetof(colo_position_state, fills) == 64, "colo_position_state.fills");
COLO_HOLDS(offsetof(colo_position_state, orders) == 72, "colo_position_state.orders");
COLO_HOLDS(offsetof(colo_position_state, cash) == 80, "colo_position_state.cash");

/* NodeEvent. */
typedef struct colo_node_event {
    uint64_t generation;
    uint16_t seat;
    uint8_t change;
    uint8_t role;
    uint32_t pid;
    int32_t exit_code;
    uint8_t reserved[4];
    uint8_t reserved_tail[8];
} colo_node_event;
COLO_HOLDS(sizeof(colo_node_event) == 32, "colo_node_event");
COLO_HOLDS(offsetof(colo_node_event, generation) == 0, "colo_node_event.generation");
COLO_HOLDS(offsetof(colo_node_event, seat) == 8, "colo_node_event.seat");
COLO_HOLDS(offsetof(colo_node_event, change) == 10, "colo_node_event.change");
COLO_HOLDS(offsetof(colo_node_event, role) == 11, "colo_node_event.role");
COLO_HOLDS(offsetof(colo_node_event, pid) == 12, "colo_node_event.pid");
COLO_HOLDS(offsetof(colo_node_event, exit_code) == 16, "colo_node_event.exit_code");
COLO_HOLDS(offsetof(colo_node_event, reserved) == 20, "colo_node_event.reserved");
COLO_HOLDS(offsetof(colo_node_event, reserved_tail) == 24, "colo_node_event.reserved_tail");

/* EndOfStream. */
typedef struct colo_end_of_stream {
    uint64_t quotes;
    uint64_t trades;
    uint64_t book_events;
    uint64_t source_messages;
    uint64_t skipped;
    uint64_t rejected;
} colo_end_of_stream;
COLO_HOLDS(sizeof(colo_end_of_stream) == 48, "colo_end_of_stream");
COLO_HOLDS(offsetof(colo_end_of_stream, quotes) == 0, "colo_end_of_stream.quotes");
COLO_HOLDS(offsetof(colo_end_of_stream, trades) == 8, "colo_end_of_stream.trades");
COLO_HOLDS(offsetof(colo_end_of_stream, book_events) == 16, "colo_end_of_stream.book_events");
COLO_HOLDS(offsetof(colo_end_of_stream, source_messages) == 24, "colo_end_of_stream.source_messages");
COLO_HOLDS(offsetof(colo_end_of_stream, skipped) == 32, "colo_end_of_stream.skipped");
COLO_HOLDS(offsetof(colo_end_of_stream, rejected) == 40, "colo_end_of_stream.rejected");

/* OrderImage. */
typedef struct colo_order_image {
    uint64_t order_id;
    int64_t price;
    int64_t open;
    int64_t filled;
    int64_t display;
    int64_t shown;
    int64_t trigger_ticks;
    uint64_t ends;
    uint32_t instrument;
    uint32_t account;
    uint32_t age_number;
    uint32_t bits;
    uint32_t behind;
    uint32_t turn;
    uint16_t strategy;
    uint16_t rests;
    uint8_t reserved[4];
} colo_order_image;
COLO_HOLDS(sizeof(colo_order_image) == 96, "colo_order_image");
COLO_HOLDS(offsetof(colo_order_image, order_id) == 0, "colo_order_image.order_id");
COLO_HOLDS(offsetof(colo_order_image, price) == 8, "colo_order_image.price");
COLO_HOLDS(offsetof(colo_order_image, open) == 16, "colo_order_image.open");
COLO_HOLDS(offsetof(colo_order_image, filled) == 24, "colo_order_image.filled");
COLO_HOLDS(offsetof(colo_order_image, display) == 32, "colo_order_image.display");
COLO_HOLDS(offsetof(colo_order_image, shown) == 40, "colo_order_image.shown");
COLO_HOLDS(offsetof(colo_order_image, trigger_ticks) == 48, "colo_order_image.trigger_ticks");
COLO_HOLDS(offsetof(colo_order_image, ends) == 56, "colo_order_image.ends");
COLO_HOLDS(offsetof(colo_order_image, instrument) == 64, "colo_order_image.instrument");
COLO_HOLDS(offsetof(colo_order_image, account) == 68, "colo_order_image.account");
COLO_HOLDS(offsetof(colo_order_image, age_number) == 72, "colo_order_image.age_number");
COLO_HOLDS(offsetof(colo_order_image, bits) == 76, "colo_order_image.bits");
COLO_HOLDS(offsetof(colo_order_image, behind) == 80, "colo_order_image.behind");
COLO_HOLDS(offsetof(colo_order_image, turn) == 84, "colo_order_image.turn");
COLO_HOLDS(offsetof(colo_order_image, strategy) == 88, "colo_order_image.strategy");
COLO_HOLDS(offsetof(colo_order_image, rests) == 90, "colo_order_image.rests");
COLO_HOLDS(offsetof(colo_order_image, reserved) == 92, "colo_order_image.reserved");

/* MarketImage. */
typedef struct colo_market_image {
    uint32_t instrument;
    uint8_t phase;
    uint8_t reserved[3];
    int64_t last_price;
    uint64_t auction_ends;
    uint64_t sequence;
} colo_market_image;
COLO_HOLDS(sizeof(colo_market_image) == 32, "colo_market_image");
COLO_HOLDS(offsetof(colo_market_image, instrument) == 0, "colo_market_image.instrument");
COLO_HOLDS(offsetof(colo_market_image, phase) == 4, "colo_market_image.phase");
COLO_HOLDS(offsetof(colo_market_image, reserved) == 5, "colo_market_image.reserved");
COLO_HOLDS(offsetof(colo_market_image, last_price) == 8, "colo_market_image.last_price");
COLO_HOLDS(offsetof(colo_market_image, auction_ends) == 16, "colo_market_image.auction_ends");
COLO_HOLDS(offsetof(colo_market_image, sequence) == 24, "colo_market_image.sequence");

/* NewestOrder. */
typedef struct colo_newest_order {
    uint64_t order_id;
} colo_newest_order;
COLO_HOLDS(sizeof(colo_newest_order) == 8, "colo_newest_order");
COLO_HOLDS(offsetof(colo_newest_order, order_id) == 0, "colo_newest_order.order_id");

/* StateEnd. */
typedef struct colo_state_end {
    uint64_t request;
    uint64_t time;
    uint64_t execution;
    uint64_t executions;
    uint64_t market;
    uint64_t base;
    uint64_t trade;
    uint64_t orders;
    uint32_t age_number;
    uint32_t instruments;
    uint64_t ended;
} colo_state_end;
COLO_HOLDS(sizeof(colo_state_end) == 80, "colo_state_end");
COLO_HOLDS(offsetof(colo_state_end, request) == 0, "colo_state_end.request");
COLO_HOLDS(offsetof(colo_state_end, time) == 8, "colo_state_end.time");
COLO_HOLDS(offsetof(colo_state_end, execution) == 16, "colo_state_end.execution");
COLO_HOLDS(offsetof(colo_state_end, executions) == 24, "colo_state_end.executions");
COLO_HOLDS(offsetof(colo_state_end, market) == 32, "colo_state_end.market");
COLO_HOLDS(offsetof(colo_state_end, base) == 40, "colo_state_end.base");
COLO_HOLDS(offsetof(colo_state_end, trade) == 48, "colo_state_end.trade");
COLO_HOLDS(offsetof(colo_state_end, orders) == 56, "colo_state_end.orders");
COLO_HOLDS(offsetof(colo_state_end, age_number) == 64, "colo_state_end.age_number");
COLO_HOLDS(offsetof(colo_state_end, instruments) == 68, "colo_state_end.instruments");
COLO_HOLDS(offsetof(colo_state_end, ended) == 72, "colo_state_end.ended");

/* DueTime. */
typedef struct colo_due_time {
    uint64_t request;
    uint64_t time;
} colo_due_time;
COLO_HOLDS(sizeof(colo_due_time) == 16, "colo_due_time");
COLO_HOLDS(offsetof(colo_due_time, request) == 0, "colo_due_time.request");
COLO_HOLDS(offsetof(colo_due_time, time) == 8, "colo_due_time.time");

/* StateBegin. */
typedef struct colo_state_begin {
    uint64_t generation;
} colo_state_begin;
COLO_HOLDS(sizeof(colo_state_begin) == 8, "colo_state_begin");
COLO_HOLDS(offsetof(colo_state_begin, generation) == 0, "colo_state_begin.generation");

/* RecordImage. */
typedef struct colo_record_image {
    uint64_t reference;
    int64_t price;
    int64_t open;
    int64_t quantity;
    int64_t taken;
    uint32_t place;
    uint32_t next;
    uint32_t previous;
    uint32_t peer_next;
    uint32_t peer_previous;
    uint32_t account;
    uint32_t instrument;
    uint8_t side;
    uint8_t owner_kind;
    uint8_t reserved[2];
} colo_record_image;
COLO_HOLDS(sizeof(colo_record_image) == 72, "colo_record_image");
COLO_HOLDS(offsetof(colo_record_image, reference) == 0, "colo_record_image.reference");
COLO_HOLDS(offsetof(colo_record_image, price) == 8, "colo_record_image.price");
COLO_HOLDS(offsetof(colo_record_image, open) == 16, "colo_record_image.open");
COLO_HOLDS(offsetof(colo_record_image, quantity) == 24, "colo_record_image.quantity");
COLO_HOLDS(offsetof(colo_record_image, taken) == 32, "colo_record_image.taken");
COLO_HOLDS(offsetof(colo_record_image, place) == 40, "colo_record_image.place");
COLO_HOLDS(offsetof(colo_record_image, next) == 44, "colo_record_image.next");
COLO_HOLDS(offsetof(colo_record_image, previous) == 48, "colo_record_image.previous");
COLO_HOLDS(offsetof(colo_record_image, peer_next) == 52, "colo_record_image.peer_next");
COLO_HOLDS(offsetof(colo_record_image, peer_previous) == 56, "colo_record_image.peer_previous");
COLO_HOLDS(offsetof(colo_record_image, account) == 60, "colo_record_image.account");
COLO_HOLDS(offsetof(colo_record_image, instrument) == 64, "colo_record_image.instrument");
COLO_HOLDS(offsetof(colo_record_image, side) == 68, "colo_record_image.side");
COLO_HOLDS(offsetof(colo_record_image, owner_kind) == 69, "colo_record_image.owner_kind");
COLO_HOLDS(offsetof(colo_record_image, reserved) == 70, "colo_record_image.reserved");

/* BookImage. */
typedef struct colo_book_image {
    uint32_t instrument;
    uint32_t bits;
    uint64_t event_time;
    uint64_t carried;
} colo_book_image;
COLO_HOLDS(sizeof(colo_book_image) == 24, "colo_book_image");
COLO_HOLDS(offsetof(colo_book_image, instrument) == 0, "colo_book_image.instrument");
COLO_HOLDS(offsetof(colo_book_image, bits) == 4, "colo_book_image.bits");
COLO_HOLDS(offsetof(colo_book_image, event_time) == 8, "colo_book_image.event_time");
COLO_HOLDS(offsetof(colo_book_image, carried) == 16, "colo_book_image.carried");

/* TakenImage. */
typedef struct colo_taken_image {
    uint64_t reference;
    int64_t taken;
    uint32_t instrument;
    uint8_t reserved[4];
} colo_taken_image;
COLO_HOLDS(sizeof(colo_taken_image) == 24, "colo_taken_image");
COLO_HOLDS(offsetof(colo_taken_image, reference) == 0, "colo_taken_image.reference");
COLO_HOLDS(offsetof(colo_taken_image, taken) == 8, "colo_taken_image.taken");
COLO_HOLDS(offsetof(colo_taken_image, instrument) == 16, "colo_taken_image.instrument");
COLO_HOLDS(offsetof(colo_taken_image, reserved) == 20, "colo_taken_image.reserved");

/* MarketRead. */
typedef struct colo_market_read {
    uint64_t request;
    uint64_t market;
} colo_market_read;
COLO_HOLDS(sizeof(colo_market_read) == 16, "colo_market_read");
COLO_HOLDS(offsetof(colo_market_read, request) == 0, "colo_market_read.request");
COLO_HOLDS(offsetof(colo_market_read, market) == 8, "colo_market_read.market");

/* AccountOpen. */
typedef struct colo_account_open {
    uint32_t account;
    uint32_t group;
    uint32_t parent;
    uint8_t kind;
    uint8_t method;
    uint8_t reserved[2];
    char currency[8];
    char name[32];
    char who[32];
    char why[64];
} colo_account_open;
COLO_HOLDS(sizeof(colo_account_open) == 152, "colo_account_open");
COLO_HOLDS(offsetof(colo_account_open, account) == 0, "colo_account_open.account");
COLO_HOLDS(offsetof(colo_account_open, group) == 4, "colo_account_open.group");
COLO_HOLDS(offsetof(colo_account_open, parent) == 8, "colo_account_open.parent");
COLO_HOLDS(offsetof(colo_account_open, kind) == 12, "colo_account_open.kind");
COLO_HOLDS(offsetof(colo_account_open, method) == 13, "colo_account_open.method");
COLO_HOLDS(offsetof(colo_account_open, reserved) == 14, "colo_account_open.reserved");
COLO_HOLDS(offsetof(colo_account_open, currency) == 16, "colo_account_open.currency");
COLO_HOLDS(offsetof(colo_account_open, name) == 24, "colo_account_open.name");
COLO_HOLDS(offsetof(colo_account_open, who) == 56, "colo_account_open.who");
COLO_HOLDS(offsetof(colo_account_open, why) == 88, "colo_account_open.why");

/* AccountChange. */
typedef struct colo_account_change {
    uint32_t subject;
    uint8_t scope;
    uint8_t action;
    uint8_t reserved[2];
    colo_wide amount;
    char currency[8];
    char who[32];
    char why[64];
} colo_account_change;
COLO_HOLDS(sizeof(colo_account_change) == 128, "colo_account_change");
COLO_HOLDS(offsetof(colo_account_change, subject) == 0, "colo_account_change.subject");
COLO_HOLDS(offsetof(colo_account_change, scope) == 4, "colo_account_change.scope");
COLO_HOLDS(offsetof(colo_account_change, action) == 5, "colo_account_change.action");
COLO_HOLDS(offsetof(colo_account_change, reserved) == 6, "colo_account_change.reserved");
COLO_HOLDS(offsetof(colo_account_change, amount) == 8, "colo_account_change.amount");
COLO_HOLDS(offsetof(colo_account_change, currency) == 24, "colo_account_change.currency");
COLO_HOLDS(offsetof(colo_account_change, who) == 32, "colo_account_change.who");
COLO_HOLDS(offsetof(colo_account_change, why) == 64, "colo_account_change.why");

/* AccountLimit. */
typedef struct colo_account_limit {
    uint32_t subject;
    uint8_t scope;
    uint8_t limit;
    uint8_t change;
    uint8_t reserved[1];
    uint32_t instrument;
    uint32_t burst;
    uint64_t number;
    colo_wide amount;
    char who[32];
    char why[64];
} colo_account_limit;
COLO_HOLDS(sizeof(colo_account_limit) == 136, "colo_account_limit");
COLO_HOLDS(offsetof(colo_account_limit, subject) == 0, "colo_account_limit.subject");
COLO_HOLDS(offsetof(colo_account_limit, scope) == 4, "colo_account_limit.scope");
COLO_HOLDS(offsetof(colo_account_limit, limit) == 5, "colo_account_limit.limit");
COLO_HOLDS(offsetof(colo_account_limit, change) == 6, "colo_account_limit.change");
COLO_HOLDS(offsetof(colo_account_limit, reserved) == 7, "colo_account_limit.reserved");
COLO_HOLDS(offsetof(colo_account_limit, instrument) == 8, "colo_account_limit.instrument");
COLO_HOLDS(offsetof(colo_account_limit, burst) == 12, "colo_account_limit.burst");
COLO_HOLDS(offsetof(colo_account_limit, number) == 16, "colo_account_limit.number");
COLO_HOLDS(offsetof(colo_account_limit, amount) == 24, "colo_account_limit.amount");
COLO_HOLDS(offsetof(colo_account_limit, who) == 40, "colo_account_limit.who");
COLO_HOLDS(offsetof(colo_account_limit, why) == 72, "colo_account_limit.why");

/* FeeRule. */
typedef struct colo_fee_rule {
    uint32_t account;
    uint32_t instrument;
    char prefix[24];
    uint16_t charge;
    uint8_t kind;
    uint8_t side;
    uint8_t event;
    uint8_t flags;
    uint8_t reserved[2];
    uint64_t unit;
    uint64_t rate;
    colo_wide per_lot;
    colo_wide minimum;
    char who[32];
    char why[64];
} colo_fee_rule;
COLO_HOLDS(sizeof(colo_fee_rule) == 184, "colo_fee_rule");
COLO_HOLDS(offsetof(colo_fee_rule, account) == 0, "colo_fee_rule.account");
COLO_HOLDS(offsetof(colo_fee_rule, instrument) == 4, "colo_fee_rule.instrument");
COLO_HOLDS(offsetof(colo_fee_rule, prefix) == 8, "colo_fee_rule.prefix");
COLO_HOLDS(offsetof(colo_fee_rule, charge) == 32, "colo_fee_rule.charge");
COLO_HOLDS(offsetof(colo_fee_rule, kind) == 34, "colo_fee_rule.kind");
COLO_HOLDS(offsetof(colo_fee_rule, side) == 35, "colo_fee_rule.side");
COLO_HOLDS(offsetof(colo_fee_rule, event) == 36, "colo_fee_rule.event");
COLO_HOLDS(offsetof(colo_fee_rule, flags) == 37, "colo_fee_rule.flags");
COLO_HOLDS(offsetof(colo_fee_rule, reserved) == 38, "colo_fee_rule.reserved");
COLO_HOLDS(offsetof(colo_fee_rule, unit) == 40, "colo_fee_rule.unit");
COLO_HOLDS(offsetof(colo_fee_rule, rate) == 48, "colo_fee_rule.rate");
COLO_HOLDS(offsetof(colo_fee_rule, per_lot) == 56, "colo_fee_rule.per_lot");
COLO_HOLDS(offsetof(colo_fee_rule, minimum) == 72, "colo_fee_rule.minimum");
COLO_HOLDS(offsetof(colo_fee_rule, who) == 88, "colo_fee_rule.who");
COLO_HOLDS(offsetof(colo_fee_rule, why) == 120, "colo_fee_rule.why");

/* MarginRule. */
typedef struct colo_margin_rule {
    uint32_t account;
    uint32_t instrument;
    char prefix[24];
    uint64_t long_rate;
    uint64_t short_rate;
    colo_wide long_per_lot;
    colo_wide short_per_lot;
    char who[32];
    char why[64];
} colo_margin_rule;
COLO_HOLDS(sizeof(colo_margin_rule) == 176, "colo_margin_rule");
COLO_HOLDS(offsetof(colo_margin_rule, account) == 0, "colo_margin_rule.account");
COLO_HOLDS(offsetof(colo_margin_rule, instrument) == 4, "colo_margin_rule.instrument");
COLO_HOLDS(offsetof(colo_margin_rule, prefix) == 8, "colo_margin_rule.prefix");
COLO_HOLDS(offsetof(colo_margin_rule, long_rate) == 32, "colo_margin_rule.long_rate");
COLO_HOLDS(offsetof(colo_margin_rule, short_rate) == 40, "colo_margin_rule.short_rate");
COLO_HOLDS(offsetof(colo_margin_rule, long_per_lot) == 48, "colo_margin_rule.long_per_lot");
COLO_HOLDS(offsetof(colo_margin_rule, short_per_lot) == 64, "colo_margin_rule.short_per_lot");
COLO_HOLDS(offsetof(colo_margin_rule, who) == 80, "colo_margin_rule.who");
COLO_HOLDS(offsetof(colo_margin_rule, why) == 112, "colo_margin_rule.why");

/* ContractTerms. */
typedef struct colo_contract_terms {
    uint32_t instrument;
    uint32_t flags;
    char symbol[24];
    char currency[8];
    uint64_t multiplier;
    int64_t price_low;
    int64_t price_high;
} colo_contract_terms;
COLO_HOLDS(sizeof(colo_contract_terms) == 64, "colo_contract_terms");
COLO_HOLDS(offsetof(colo_contract_terms, instrument) == 0, "colo_contract_terms.instrument");
COLO_HOLDS(offsetof(colo_contract_terms, flags) == 4, "colo_contract_terms.flags");
COLO_HOLDS(offsetof(colo_contract_terms, symbol) == 8, "colo_contract_terms.symbol");
COLO_HOLDS(offsetof(colo_contract_terms, currency) == 32, "colo_contract_terms.currency");
COLO_HOLDS(offsetof(colo_contract_terms, multiplier) == 40, "colo_contract_terms.multiplier");
COLO_HOLDS(offsetof(colo_contract_terms, price_low) == 48, "colo_contract_terms.price_low");
COLO_HOLDS(offsetof(colo_contract_terms, price_high) == 56, "colo_contract_terms.price_high");

/* CurrencyRate. */
typedef struct colo_currency_rate {
    char currency[8];
    uint64_t rate;
} colo_currency_rate;
COLO_HOLDS(sizeof(colo_currency_rate) == 16, "colo_currency_rate");
COLO_HOLDS(offsetof(colo_currency_rate, currency) == 0, "colo_currency_rate.currency");
COLO_HOLDS(offsetof(colo_currency_rate, rate) == 8, "colo_currency_rate.rate");

/* SettlementPrice. */
typedef struct colo_settlement_price {
    uint32_t day;
    uint32_t instrument;
    int64_t price;
} colo_settlement_price;
COLO_HOLDS(sizeof(colo_settlement_price) == 16, "colo_settlement_price");
COLO_HOLDS(offsetof(colo_settlement_price, day) == 0, "colo_settlement_price.day");
COLO_HOLDS(offsetof(colo_settlement_price, instrument) == 4, "colo_settlement_price.instrument");
COLO_HOLDS(offsetof(colo_settlement_price, price) == 8, "colo_settlement_price.price");

/* Settle. */
typedef struct colo_settle {
    uint32_t day;
    uint32_t flags;
    char who[32];
} colo_settle;
COLO_HOLDS(sizeof(colo_settle) == 40, "colo_settle");
COLO_HOLDS(offsetof(colo_settle, day) == 0, "colo_settle.day");
COLO_HOLDS(offsetof(colo_settle, flags) == 4, "colo_settle.flags");
COLO_HOLDS(offsetof(colo_settle, who) == 8, "colo_settle.who");

/* EntryResult. */
typedef struct colo_entry_result {
    uint64_t entry;
    uint32_t refusal;
    uint32_t about;
} colo_entry_result;
COLO_HOLDS(sizeof(colo_entry_result) == 16, "colo_entry_result");
COLO_HOLDS(offsetof(colo_entry_result, entry) == 0, "colo_entry_result.entry");
COLO_HOLDS(offsetof(colo_entry_result, refusal) == 8, "colo_entry_result.refusal");
COLO_HOLDS(offsetof(colo_entry_result, about) == 12, "colo_entry_result.about");

/* Mark. */
typedef struct colo_mark {
    uint32_t instrument;
    uint8_t reserved[4];
    int64_t price;
} colo_mark;
COLO_HOLDS(sizeof(colo_mark) == 16, "colo_mark");
COLO_HOLDS(offsetof(colo_mark, instrument) == 0, "colo_mark.instrument");
COLO_HOLDS(offsetof(colo_mark, reserved) == 4, "colo_mark.reserved");
COLO_HOLDS(offsetof(colo_mark, price) == 8, "colo_mark.price");

/* AccountState. */
typedef struct colo_account_state {
    uint32_t account;
    uint32_t open_orders;
    uint16_t owner;
    uint8_t kind;
    uint8_t flags;
    uint8_t reserved[4];
    char currency[8];
    uint64_t drops;
    uint64_t risk_ratio;
    colo_wide balance;
    colo_wide equity;
    colo_wide available;
    colo_wide frozen;
    colo_wide margin;
    colo_wide day_result;
} colo_account_state;
COLO_HOLDS(sizeof(colo_account_state) == 136, "colo_account_state");
COLO_HOLDS(offsetof(colo_account_state, account) == 0, "colo_account_state.account");
COLO_HOLDS(offsetof(colo_account_state, open_orders) == 4, "colo_account_state.open_orders");
COLO_HOLDS(offsetof(colo_account_state, owner) == 8, "colo_account_state.owner");
COLO_HOLDS(offsetof(colo_account_state, kind) == 10, "colo_account_state.kind");
COLO_HOLDS(offsetof(colo_account_state, flags) == 11, "colo_account_state.flags");
COLO_HOLDS(offsetof(colo_account_state, reserved) == 12, "colo_account_state.reserved");
COLO_HOLDS(offsetof(colo_account_state, currency) == 16, "colo_account_state.currency");
COLO_HOLDS(offsetof(colo_account_state, drops) == 24, "colo_account_state.drops");
COLO_HOLDS(offsetof(colo_account_state, risk_ratio) == 32, "colo_account_state.risk_ratio");
COLO_HOLDS(offsetof(colo_account_state, balance) == 40, "colo_account_state.balance");
COLO_HOLDS(offsetof(colo_account_state, equity) == 56, "colo_account_state.equity");
COLO_HOLDS(offsetof(colo_account_state, available) == 72, "colo_account_state.available");
COLO_HOLDS(offsetof(colo_account_state, frozen) == 88, "colo_account_state.frozen");
COLO_HOLDS(offsetof(colo_account_state, margin) == 104, "colo_account_state.margin");
COLO_HOLDS(offsetof(colo_account_state, day_result) == 120, "colo_account_state.day_result");

/* DeskPart. */
typedef struct colo_desk_part {
    uint64_t drops;
    uint32_t part;
    uint32_t parts;
    uint32_t length;
    uint8_t reserved[4];
    uint8_t bytes[4040];
} colo_desk_part;
COLO_HOLDS(sizeof(colo_desk_part) == 4064, "colo_desk_part");
COLO_HOLDS(offsetof(colo_desk_part, drops) == 0, "colo_desk_part.drops");
COLO_HOLDS(offsetof(colo_desk_part, part) == 8, "colo_desk_part.part");
COLO_HOLDS(offsetof(colo_desk_part, parts) == 12, "colo_desk_part.parts");
COLO_HOLDS(offsetof(colo_desk_part, length) == 16, "colo_desk_part.length");
COLO_HOLDS(offsetof(colo_desk_part, reserved) == 20, "colo_desk_part.reserved");
COLO_HOLDS(offsetof(colo_desk_part, bytes) == 24, "colo_desk_part.bytes");

#undef COLO_HOLDS
#endif

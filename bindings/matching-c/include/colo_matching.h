/*
 * colo's exchange core: order books by price and time, in one library, without a platform around it.
 *
 * One exchange is used by one thread at a time. Every function returns 0, or a negative code; `colo_error_text` says what
 * it means. No function keeps a pointer that it was given, but for the exchange's own.
 *
 * Prices are in 1e-9 of the currency and multiples of the instrument's tick, quantities are whole numbers, order numbers
 * are any 64-bit numbers that no working order has.
 */
#ifndef COLO_MATCHING_H
#define COLO_MATCHING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct colo_exchange colo_exchange;

/* "No price": of a market order. */
#define COLO_NO_PRICE INT64_MIN

enum colo_side { COLO_BUY = 1, COLO_SELL = 2 };

enum colo_lifetime {
    COLO_DAY = 0,
    COLO_GOOD_TILL_CANCEL = 1,
    COLO_GOOD_TILL_DATE = 2, /* until `ends` */
    COLO_IMMEDIATE_OR_CANCEL = 3,
    COLO_FILL_OR_KILL = 4,
    COLO_AT_THE_OPEN = 5,
    COLO_AT_THE_CLOSE = 6
};

/* What happens when an incoming order would trade with one of the same owner. */
enum colo_self_trade {
    COLO_SELF_TRADE_ALLOW = 0,
    COLO_SELF_TRADE_BY_RULES = 1, /* as the rules of the market say */
    COLO_CANCEL_NEWEST = 2,       /* what is left of the incoming order is cancelled */
    COLO_CANCEL_OLDEST = 3,       /* the resting order is cancelled */
    COLO_CANCEL_BOTH = 4,
    COLO_DECREMENT = 5            /* both lose the smaller open quantity */
};

/* Rules of a market: those that docs/exchange.md describes under these names. */
enum colo_rules { COLO_PLAIN = 0, COLO_SHANGHAI = 1, COLO_SHENZHEN = 2, COLO_CME = 3 };

enum colo_phase {
    COLO_CLOSED = 1,
    COLO_PRE_OPEN = 2,
    COLO_OPENING_AUCTION = 3,
    COLO_OPENING_FREEZE = 4,
    COLO_PAUSE = 5,
    COLO_CONTINUOUS = 6,
    COLO_HALT = 7,
    COLO_VOLATILITY_AUCTION = 8,
    COLO_CLOSING_AUCTION = 9,
    COLO_CLOSING_FREEZE = 10
};

enum colo_report_kind {
    COLO_ACCEPTED = 1,
    COLO_REJECTED = 2,
    COLO_RESTED = 3,    /* it, or what is left of it, is in the book */
    COLO_TRADED = 4,    /* one for each of the two orders, the resting one's first */
    COLO_CANCELLED = 5,
    COLO_REPLACED = 6,
    COLO_REFUSED = 7,   /* a cancel or a modify was refused */
    COLO_REFRESHED = 8, /* an iceberg shows its next part */
    COLO_REDUCED = 9,   /* self-trade prevention made it smaller */
    COLO_TRIGGERED = 10, /* a stop was reached; what follows from it comes next */
    COLO_UNCROSSED = 11, /* an auction ends, its trades come next: `price`, `quantity` and, as `open`, the imbalance */
    COLO_PHASE = 12      /* the market of `instrument` has the phase `quantity` now, and had `filled` before */
};

enum colo_error {
    COLO_OK = 0,
    COLO_NULL = -1,       /* a pointer is null */
    COLO_ARGUMENT = -2,   /* a value is none of its enumeration, or `struct_size` is unknown */
    COLO_INSTRUMENT = -3, /* the instrument cannot be listed: its number, its tick, or it is listed already */
    COLO_PANIC = -4       /* a fault of the library; the exchange must not be used any more */
};

/* What happened to one order, or in COLO_UNCROSSED and COLO_PHASE to a market. */
typedef struct colo_report {
    uint64_t order;      /* 0: to a market */
    uint64_t trade;      /* number of the trade, or 0 */
    int64_t price;       /* of the trade; else the order's limit */
    int64_t quantity;    /* of the trade; else how much works */
    int64_t filled;      /* how much of the order has traded */
    int64_t open;        /* how much of it works; in COLO_CANCELLED, how much was left */
    uint32_t instrument; /* 0 in COLO_REFUSED */
    uint8_t kind;        /* enum colo_report_kind */
    uint8_t side;        /* enum colo_side; 0 in COLO_REFUSED, and of a market */
    uint8_t reason;      /* as `reason` in docs/messages.md; 1: none */
    uint8_t maker;       /* 1: it rested when it traded */
} colo_report;

/* Receives the reports of a call, in order, before the call returns. */
typedef void (*colo_report_function)(void *context, const colo_report *report);

/* A new order. Set `struct_size` to sizeof(colo_order), and what is not needed to zero. */
typedef struct colo_order {
    uint32_t struct_size;
    uint32_t instrument;
    uint64_t order;
    int64_t price; /* COLO_NO_PRICE: a market order */
    int64_t quantity;
    int64_t display; /* how much the book shows at a time; 0: all */
    int64_t minimum; /* it trades at least this much at once, or nothing */
    uint32_t account;
    uint16_t strategy;
    uint8_t side;     /* enum colo_side */
    uint8_t lifetime; /* enum colo_lifetime */
    uint8_t post_only;
    uint8_t self_trade; /* enum colo_self_trade */
    uint8_t is_stop;    /* 1: it waits until a trade reaches `trigger` */
    uint8_t reserved[5]; /* zero */
    int64_t trigger;     /* of a stop: a buy waits for a trade at it or above, a sell at it or below */
    uint64_t ends;       /* of COLO_GOOD_TILL_DATE: when it ends, in nanoseconds of colo_advance */
} colo_order;

/* From the price `from` on, prices are multiples of `tick`. The first holds for lower prices too. */
typedef struct colo_tick {
    int64_t from;
    int64_t tick;
} colo_tick;

/* An instrument and its rules. Set `struct_size` to sizeof(colo_instrument), and what is not needed to zero; but for
 * prices, where COLO_NO_PRICE means none and zero is a price. */
typedef struct colo_instrument {
    uint32_t struct_size;
    uint32_t instrument; /* 1 to 4095 */
    const colo_tick *ticks;
    uint64_t tick_count;
    int64_t lot;          /* quantities are multiples of this; at least 1 */
    int64_t max_quantity; /* of one order; 0: no limit */
    int64_t reference_price; /* what auctions and the band start from */
    int64_t price_low;       /* no order has a lower price */
    int64_t price_high;
    int64_t band;            /* continuous trading stops for an auction before a trade further from the last price; 0: never */
    uint64_t band_auction;   /* nanoseconds that this auction lasts */
    uint8_t band_in_basis_points; /* 1: `band` is in parts in ten thousand of the last price; 0: an amount */
    uint8_t rules;           /* enum colo_rules */
    uint8_t owner;           /* of orders that must not trade with each other; 0: by the rules, 1: strategy, 2: account */
    uint8_t self_trade;      /* enum colo_self_trade: of orders with COLO_SELF_TRADE_BY_RULES */
    uint8_t reserved[4];     /* zero */
} colo_instrument;

/* A phase and when it begins. */
typedef struct colo_phase_at {
    uint64_t time; /* nanoseconds of colo_advance */
    uint8_t phase; /* enum colo_phase */
    uint8_t reserved[7];
} colo_phase_at;

/* A price level. */
typedef struct colo_level {
    int64_t price;
    int64_t shown;   /* quantity that the book shows */
    int64_t hidden;  /* quantity of icebergs that it does not show */
    uint32_t orders; /* 0: nothing rests at this price */
    uint32_t reserved;
} colo_level;

enum colo_given { COLO_BY_STRATEGY = 1, COLO_BY_ACCOUNT = 2, COLO_BY_INSTRUMENT = 4, COLO_BY_SIDE = 8 };

/* Which orders a mass cancel takes: those that match all that `given` names. */
typedef struct colo_filter {
    uint32_t struct_size;
    uint32_t given; /* bits of enum colo_given */
    uint32_t instrument;
    uint32_t account;
    uint16_t strategy;
    uint8_t side;
    uint8_t reserved[5];
} colo_filter;

/* An exchange with room for so many orders; it grows beyond. NULL: out of memory. */
colo_exchange *colo_exchange_new(uint64_t expected_orders);
void colo_exchange_free(colo_exchange *exchange);

/* Lists an instrument, 1 to 4095, in continuous trading with plain rules. */
int32_t colo_list(colo_exchange *exchange, uint32_t instrument, int64_t tick);
/* Lists an instrument with rules of its own, in continuous trading until colo_set_phase or colo_schedule say otherwise. */
int32_t colo_list_with(colo_exchange *exchange, const colo_instrument *instrument);

/* Changes the phase of an instrument's market: auctions end with their trades, orders of an auction end with it. */
int32_t colo_set_phase(colo_exchange *exchange, uint32_t instrument, uint8_t phase, colo_report_function report,
                       void *context);
/* The phase of an instrument's market (enum colo_phase); negative: an error. */
int32_t colo_phase(const colo_exchange *exchange, uint32_t instrument);
/* The phases to come; they replace those set before. colo_advance carries them out. */
int32_t colo_schedule(colo_exchange *exchange, uint32_t instrument, const colo_phase_at *phases, uint64_t count);
/* Sets the time, in nanoseconds, and does what is due until then: phases, ends of volatility auctions and of good-till-date
 * orders. An earlier time than before changes nothing. */
int32_t colo_advance(colo_exchange *exchange, uint64_t now, colo_report_function report, void *context);

int32_t colo_new(colo_exchange *exchange, const colo_order *order, colo_report_function report, void *context);
int32_t colo_cancel(colo_exchange *exchange, uint64_t order, colo_report_function report, void *context);
/* `quantity` is the new total, what has traded included. */
int32_t colo_modify(colo_exchange *exchange, uint64_t order, int64_t price, int64_t quantity,
                    colo_report_function report, void *context);

/* Cancels all orders that the filter takes, the oldest first. `passed_over`, if not NULL, receives how many it would have
 * taken whose phase takes no cancels. */
int32_t colo_cancel_all(colo_exchange *exchange, const colo_filter *filter, uint64_t *passed_over,
                        colo_report_function report, void *context);

/* The best price of a side and its quantity. COLO_NO_PRICE and 0 where it is empty. */
int32_t colo_best(const colo_exchange *exchange, uint32_t instrument, uint8_t side, int64_t *price, int64_t *quantity);
/* The level at a price, with `orders` 0 where nothing rests. */
int32_t colo_level_at(const colo_exchange *exchange, uint32_t instrument, uint8_t side, int64_t price,
                      colo_level *level);
/* Writes up to `capacity` levels of a side, best first. Returns how many; negative: an error. */
int64_t colo_levels(const colo_exchange *exchange, uint32_t instrument, uint8_t side, colo_level *levels,
                    uint64_t capacity);
/* What an auction would trade now. COLO_NO_PRICE where nothing would. Each pointer may be NULL. */
int32_t colo_equilibrium(const colo_exchange *exchange, uint32_t instrument, int64_t *price, int64_t *volume,
                         int64_t *imbalance);
/* Number of working orders; negative: an error. */
int64_t colo_working_orders(const colo_exchange *exchange);

/* What a code means, in English; never NULL. */
const char *colo_error_text(int32_t code);

#ifdef __cplusplus
}
#endif
#endif

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
    COLO_IMMEDIATE_OR_CANCEL = 3,
    COLO_FILL_OR_KILL = 4
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
    COLO_REDUCED = 9    /* self-trade prevention made it smaller */
};

enum colo_error {
    COLO_OK = 0,
    COLO_NULL = -1,       /* a pointer is null */
    COLO_ARGUMENT = -2,   /* a value is none of its enumeration, or `struct_size` is unknown */
    COLO_INSTRUMENT = -3, /* the instrument cannot be listed: its number, its tick, or it is listed already */
    COLO_PANIC = -4       /* a fault of the library; the exchange must not be used any more */
};

/* What happened to one order. */
typedef struct colo_report {
    uint64_t order;
    uint64_t trade;      /* number of the trade, or 0 */
    int64_t price;       /* of the trade; else the order's limit */
    int64_t quantity;    /* of the trade; else how much works */
    int64_t filled;      /* how much of the order has traded */
    int64_t open;        /* how much of it works; in COLO_CANCELLED, how much was left */
    uint32_t instrument; /* 0 in COLO_REFUSED */
    uint8_t kind;        /* enum colo_report_kind */
    uint8_t side;        /* enum colo_side; 0 in COLO_REFUSED */
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
    uint8_t reserved[7]; /* zero */
} colo_order;

/* An exchange with room for so many orders; it grows beyond. NULL: out of memory. */
colo_exchange *colo_exchange_new(uint64_t expected_orders);
void colo_exchange_free(colo_exchange *exchange);

/* Lists an instrument, 1 to 4095, in continuous trading with plain rules. */
int32_t colo_list(colo_exchange *exchange, uint32_t instrument, int64_t tick);

int32_t colo_new(colo_exchange *exchange, const colo_order *order, colo_report_function report, void *context);
int32_t colo_cancel(colo_exchange *exchange, uint64_t order, colo_report_function report, void *context);
/* `quantity` is the new total, what has traded included. */
int32_t colo_modify(colo_exchange *exchange, uint64_t order, int64_t price, int64_t quantity,
                    colo_report_function report, void *context);

/* The best price of a side and its quantity. COLO_NO_PRICE and 0 where it is empty. */
int32_t colo_best(const colo_exchange *exchange, uint32_t instrument, uint8_t side, int64_t *price, int64_t *quantity);
/* Number of working orders; negative: an error. */
int64_t colo_working_orders(const colo_exchange *exchange);

/* What a code means, in English; never NULL. */
const char *colo_error_text(int32_t code);

#ifdef __cplusplus
}
#endif
#endif

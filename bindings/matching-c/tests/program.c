/* Uses the library as a stranger would; exits with the number of the line that did not hold. */
#include "colo_matching.h"
#include <stdio.h>
#include <string.h>

#define EXPECT(what) do { if (!(what)) { fprintf(stderr, "line %d: %s\n", __LINE__, #what); return 1; } } while (0)

struct seen { int count; colo_report last[16]; };

static void note(void *context, const colo_report *report) {
    struct seen *seen = context;
    if (seen->count < 16) seen->last[seen->count] = *report;
    seen->count++;
}

static colo_order limit(uint64_t number, uint8_t side, int64_t price, int64_t quantity) {
    colo_order order;
    memset(&order, 0, sizeof order);
    order.struct_size = sizeof order;
    order.instrument = 7;
    order.order = number;
    order.side = side;
    order.price = price;
    order.quantity = quantity;
    return order;
}

int main(void) {
    const int64_t cent = 10000000;
    struct seen seen = {0};
    int64_t price, quantity;
    colo_exchange *exchange = colo_exchange_new(1000);
    EXPECT(exchange != NULL);
    EXPECT(sizeof(colo_order) == 64 && sizeof(colo_report) == 56);
    EXPECT(colo_list(exchange, 7, cent) == COLO_OK);
    EXPECT(colo_list(exchange, 7, cent) == COLO_INSTRUMENT);
    EXPECT(colo_list(NULL, 7, cent) == COLO_NULL);

    colo_order order = limit(UINT64_MAX, COLO_SELL, 1002 * cent, 300);
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[0].kind == COLO_ACCEPTED && seen.last[1].kind == COLO_RESTED);
    EXPECT(colo_best(exchange, 7, COLO_SELL, &price, &quantity) == COLO_OK && price == 1002 * cent && quantity == 300);

    seen.count = 0;
    order = limit(2, COLO_BUY, COLO_NO_PRICE, 200);
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_OK);
    EXPECT(seen.count == 3 && seen.last[1].kind == COLO_TRADED && seen.last[1].order == UINT64_MAX && seen.last[1].maker == 1);
    EXPECT(seen.last[2].order == 2 && seen.last[2].quantity == 200 && seen.last[2].open == 0 && seen.last[2].trade == 1);

    seen.count = 0;
    EXPECT(colo_modify(exchange, UINT64_MAX, 1003 * cent, 500, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[0].kind == COLO_REPLACED && seen.last[0].open == 300);

    seen.count = 0;
    EXPECT(colo_cancel(exchange, UINT64_MAX, note, &seen) == COLO_OK);
    EXPECT(colo_cancel(exchange, UINT64_MAX, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[0].kind == COLO_CANCELLED && seen.last[1].kind == COLO_REFUSED);
    EXPECT(colo_working_orders(exchange) == 0);

    order.side = 9;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_ARGUMENT);
    order.struct_size = 1;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_ARGUMENT);
    EXPECT(colo_new(exchange, NULL, note, &seen) == COLO_NULL);
    EXPECT(strlen(colo_error_text(COLO_ARGUMENT)) > 0);
    order = limit(3, COLO_BUY, 1, 1);
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    colo_exchange_free(exchange);
    colo_exchange_free(NULL);
    puts("held");
    return 0;
}

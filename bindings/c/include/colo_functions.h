#ifndef COLO_FUNCTIONS_H
#define COLO_FUNCTIONS_H

/* Made from bindings/c/src by cbindgen; do not edit. Programs include colo.h. */

#include <stddef.h>
#include <stdint.h>
#include "colo_layout.h"
#include "colo_messages.h"

/*
 What a strategy hears of the market: ten levels, with `data = "depth"`.
 */
#define COLO_DATA_DEPTH 1

/*
 The best bid and ask, with `data = "best"`.
 */
#define COLO_DATA_BEST 2

/*
 Order by order, with `data = "flow"`.
 */
#define COLO_DATA_FLOW 3

/*
 The journal has never had a writer.
 */
#define COLO_WRITER_NONE 0

/*
 A process writes it.
 */
#define COLO_WRITER_ATTACHED 1

/*
 Its last writer has left in good order.
 */
#define COLO_WRITER_CLOSED 2

/*
 Its last writer's process has ended without leaving.
 */
#define COLO_WRITER_DEAD 3

/*
 There was news, and no sleep.
 */
#define COLO_PARK_NEWS 0

/*
 Somebody ended the sleep: look at the journals.
 */
#define COLO_PARK_WOKEN 1

/*
 The time was up.
 */
#define COLO_PARK_TIMEOUT 2

/*
 What functions return: zero or more is success, these are the failures. `colo_error` says which file or order it was, and what to
 do.
 */
enum colo_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /*
     Done.
     */
    COLO_OK = 0,
    /*
     A pointer is null.
     */
    COLO_E_NULL = -1,
    /*
     A value is none of its enumeration, out of its range, or no UTF-8.
     */
    COLO_E_ARGUMENT = -2,
    /*
     `struct_size` is not that of this library: it and the program were compiled with different headers.
     */
    COLO_E_SIZE = -3,
    /*
     A fault of the library; the handle must not be used any more.
     */
    COLO_E_PANIC = -4,
    /*
     Not now: something is begun on this writer and neither committed nor abandoned, or nothing is.
     */
    COLO_E_ORDER_OF_CALLS = -5,
    /*
     This process is a fork of the one that opened the handle: only that one may use it.
     */
    COLO_E_FORKED = -6,
    /*
     The system refused: a file is missing, forbidden, or cannot be mapped.
     */
    COLO_E_IO = -10,
    /*
     No file of colo.
     */
    COLO_E_FOREIGN = -11,
    /*
     A file of another version.
     */
    COLO_E_VERSION = -12,
    /*
     What is there was written by no writer.
     */
    COLO_E_DAMAGED = -13,
    /*
     Another journal of that name was made since this one was opened.
     */
    COLO_E_REPLACED = -14,
    /*
     Another process writes it.
     */
    COLO_E_WRITER_EXISTS = -15,
    /*
     A living process reads in that seat.
     */
    COLO_E_SEAT_TAKEN = -16,
    /*
     The first frames are overwritten already.
     */
    COLO_E_TOO_LATE = -17,
    /*
     The journal has no such seat.
     */
    COLO_E_NO_SUCH_SEAT = -18,
    /*
     No frame can start there.
     */
    COLO_E_NO_SUCH_POSITION = -19,
    /*
     The writer overtook this loose reader: `colo_gap` says what is lost. The next call reads on.
     */
    COLO_E_LAPPED = -20,
    /*
     A gated reader is behind: nothing was written, try again later.
     */
    COLO_E_FULL = -30,
    /*
     No more fits into this batch or frame of records: commit it and begin another.
     */
    COLO_E_BATCH_FULL = -31,
    /*
     The journal takes no payload of that size.
     */
    COLO_E_TOO_LARGE = -32,
    /*
     The journal has no such topic.
     */
    COLO_E_NO_SUCH_TOPIC = -33,
    /*
     More bytes than were claimed.
     */
    COLO_E_PAST_CLAIM = -34,
    /*
     A record of another size than was claimed, or of one that no record has.
     */
    COLO_E_RECORD_SIZE = -35,
    /*
     A position that cannot be skipped to.
     */
    COLO_E_NOT_AHEAD = -36,
    /*
     The strategy has not started, or has stopped.
     */
    COLO_E_NOT_READY = -40,
    /*
     The instrument is not listed.
     */
    COLO_E_UNKNOWN_INSTRUMENT = -41,
    /*
     No such order works.
     */
    COLO_E_UNKNOWN_ORDER = -42,
    /*
     The quantity must be positive.
     */
    COLO_E_QUANTITY = -43,
    /*
     A limit order needs a price.
     */
    COLO_E_NO_PRICE = -44,
    /*
     Displayed and minimum quantity are whole lots, not more than the order.
     */
    COLO_E_PART = -45,
    /*
     A stop needs a price to wait for.
     */
    COLO_E_NO_TRIGGER = -46,
    /*
     A date is a whole second from 1970 to 2106.
     */
    COLO_E_DATE = -47,
    /*
     A market order cannot be post-only.
     */
    COLO_E_MARKET_CANNOT_REST = -48,
    /*
     All order numbers of this start are used up.
     */
    COLO_E_EXHAUSTED = -49,
    /*
     The platform does not keep it: no accounts, or no depth for what this strategy hears.
     */
    COLO_E_NOT_KEPT = -50,
    /*
     No account of that number is open.
     */
    COLO_E_UNKNOWN_ACCOUNT = -51,
    /*
     It changed faster than it could be copied: ask again.
     */
    COLO_E_BUSY = -52,
    /*
     There is none yet: no quote, no such parameter.
     */
    COLO_E_NOTHING = -53,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum colo_code colo_code;
#else
typedef int32_t colo_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 A strategy's access to the platform: passed to each of its functions, and valid until that returns.
 */
typedef struct colo_context colo_context;

/*
 A journal that this process has opened.
 */
typedef struct colo_journal colo_journal;

/*
 The parameters of a strategy: what the platform file says, and the command line over it. Valid during `create`.
 */
typedef struct colo_parameters colo_parameters;

/*
 A reader, gated or loose: for one thread at a time.
 */
typedef struct colo_reader colo_reader;

/*
 The registry of an instance: its clock, and the words on which its nodes sleep.
 */
typedef struct colo_registry colo_registry;

/*
 The writer of a journal: for one thread at a time.
 */
typedef struct colo_writer colo_writer;

/*
 Who and where a strategy is.
 */
typedef struct colo_identity {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Number of its seat.
     */
    uint32_t strategy;
    /*
     `COLO_DATA_DEPTH` and so on.
     */
    uint32_t data;
    /*
     The account of orders that name none.
     */
    uint32_t account;
    /*
     Name of the node.
     */
    char name[64];
} colo_identity;

/*
 Positions of the strategy in one instrument.
 */
typedef struct colo_position {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Zero.
     */
    uint32_t reserved;
    /*
     Signed: short is negative.
     */
    int64_t quantity;
    /*
     All that was bought.
     */
    int64_t bought;
    /*
     All that was sold.
     */
    int64_t sold;
    /*
     What sales brought less what purchases cost, as money.
     */
    int64_t cash;
} colo_position;

/*
 What a journal is, and how far it is.
 */
typedef struct colo_journal_state {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Its number in its instance.
     */
    uint32_t id;
    /*
     Bytes in its ring.
     */
    uint64_t capacity;
    /*
     Seats.
     */
    uint32_t seats;
    /*
     Topics.
     */
    uint32_t topics;
    /*
     Largest payload.
     */
    uint64_t max_payload;
    /*
     Position of its first frame.
     */
    uint64_t first;
    /*
     End of its frames.
     */
    uint64_t head;
    /*
     Frames that were ever committed.
     */
    uint64_t frames;
    /*
     How many writers it has had.
     */
    uint64_t epoch;
    /*
     Its writer: `COLO_WRITER_NONE`, `COLO_WRITER_ATTACHED`, `COLO_WRITER_CLOSED`, `COLO_WRITER_DEAD`.
     */
    uint32_t writer;
    /*
     Process id of the writer, or 0.
     */
    uint32_t writer_pid;
} colo_journal_state;

/*
 A new order: set `struct_size`, clear the rest, fill in what it needs.
 */
typedef struct colo_order_request {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     What to trade.
     */
    uint32_t instrument;
    /*
     Limit price, or `COLO_NO_PRICE`.
     */
    int64_t price;
    /*
     How much.
     */
    int64_t quantity;
    /*
     `COLO_SIDE_BUY` or `COLO_SIDE_SELL`.
     */
    uint8_t side;
    /*
     `COLO_ORDER_TYPE_LIMIT` and so on; 0: limit.
     */
    uint8_t order_type;
    /*
     `COLO_TIME_IN_FORCE_DAY` and so on; 0: day.
     */
    uint8_t time_in_force;
    /*
     `COLO_NEW_ORDER_FLAGS_` and so on.
     */
    uint8_t flags;
    /*
     For which account, if `with_account` is 1; otherwise the strategy's default.
     */
    uint32_t account;
    /*
     0 or 1.
     */
    uint32_t with_account;
    /*
     Zero.
     */
    uint32_t reserved;
    /*
     How much the book shows at a time; 0: all.
     */
    int64_t display;
    /*
     How much must trade at once, or nothing; 0: any.
     */
    int64_t minimum;
    /*
     The price that a stop waits for; of any other order it is not looked at.
     */
    int64_t trigger;
    /*
     When an order good till a date ends, in ns; 0 for any other.
     */
    uint64_t ends;
} colo_order_request;

/*
 Which orders to cancel: those that match all that is given.
 */
typedef struct colo_cancel_request {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Only of this instrument; 0: of any.
     */
    uint32_t instrument;
    /*
     Only for this account, if `with_account` is 1.
     */
    uint32_t account;
    /*
     0 or 1.
     */
    uint32_t with_account;
    /*
     Only of this side; 0: of both.
     */
    uint8_t side;
    /*
     Zero.
     */
    uint8_t reserved[7];
} colo_cancel_request;

/*
 An order that has not ended.
 */
typedef struct colo_working_order {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Its instrument.
     */
    uint32_t instrument;
    /*
     Its id.
     */
    uint64_t id;
    /*
     Limit price, or `COLO_NO_PRICE`.
     */
    int64_t price;
    /*
     Its whole quantity.
     */
    int64_t quantity;
    /*
     How much has traded.
     */
    int64_t filled;
    /*
     When it was sent.
     */
    uint64_t sent;
    /*
     Replaces on their way.
     */
    uint32_t replacing;
    /*
     `COLO_SIDE_BUY` or `COLO_SIDE_SELL`.
     */
    uint8_t side;
    /*
     1 once the market has it.
     */
    uint8_t accepted;
    /*
     1 while a cancel is on its way.
     */
    uint8_t cancelling;
    /*
     Zero.
     */
    uint8_t reserved;
} colo_working_order;

/*
 A frame. Its payload is lent: until the next call with this reader.
 */
typedef struct colo_frame {
    /*
     Size of this structure: set it first, once.
     */
    uint32_t struct_size;
    /*
     Bytes of payload.
     */
    uint32_t length;
    /*
     The frame's position.
     */
    uint64_t position;
    /*
     When it was committed, in ns since the epoch.
     */
    uint64_t time;
    /*
     The message, or several records.
     */
    const uint8_t *payload;
    /*
     Its topic.
     */
    uint32_t topic;
    /*
     Low half of its writer's epoch.
     */
    uint32_t epoch;
    /*
     Number of the message.
     */
    uint16_t message_id;
    /*
     `COLO_FRAME_RECORD` and the others of colo_layout.h.
     */
    uint16_t flags;
    /*
     Zero.
     */
    uint32_t reserved;
} colo_frame;

/*
 Frames one behind the other, as they lie in the ring: `colo_batch_next` steps through them without a call. They are lent until the
 next call with this reader.
 */
typedef struct colo_batch {
    /*
     Size of this structure: set it first, once.
     */
    uint32_t struct_size;
    /*
     How many frames, void ones among them.
     */
    uint32_t frames;
    /*
     Position of the first.
     */
    uint64_t position;
    /*
     The first frame's header.
     */
    const uint8_t *bytes;
    /*
     Bytes of all of them.
     */
    uint64_t length;
    /*
     How far `colo_batch_next` is.
     */
    uint64_t offset;
} colo_batch;

/*
 What a loose reader lost.
 */
typedef struct colo_gap_bounds {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Zero.
     */
    uint32_t reserved;
    /*
     First position that is lost.
     */
    uint64_t from;
    /*
     Where reading goes on.
     */
    uint64_t resumed_at;
} colo_gap_bounds;

/*
 A strategy: clear it, set `struct_size`, then the functions that it has. Those that are null are not called. All of one process are
 called on one thread, one after the other.

 `create` returns the strategy's own state, which the others get; in a host it is called for each strategy. Each other function returns
 0, or anything else to give up: then the strategy ends as failed, td cancels its orders, and in a host the others go on. No exception
 and no longjmp may leave a function.
 */
typedef struct colo_strategy {
    /*
     Size of this structure: set it first.
     */
    uint32_t struct_size;
    /*
     Zero.
     */
    uint32_t reserved;
    /*
     Passed to `create`.
     */
    void *program;
    /*
     Creates the state; the platform is not known yet. A parameter that it does not ask for and that is given is an error. To refuse
     it returns null and sets `problem` to a text that stays; null without one is a state like any other.
     */
    void *(*create)(void *program, struct colo_parameters *parameters, const char **problem);
    /*
     Frees the state.
     */
    void (*destroy)(void *state);
    /*
     Once, first: positions and working orders are those of the ledger. Orders may be sent from here on.
     */
    int32_t (*start)(void *state, struct colo_context *context);
    /*
     An instrument that it reads is listed.
     */
    int32_t (*instrument)(void *state, struct colo_context *context, const colo_instrument *instrument);
    /*
     The book of an instrument changed, with `data = "depth"`.
     */
    int32_t (*quote)(void *state, struct colo_context *context, const colo_quote *quote);
    /*
     The best bid or ask changed, with `data = "best"`.
     */
    int32_t (*best)(void *state, struct colo_context *context, uint32_t instrument, const colo_best *best);
    /*
     An event of the order flow, with `data = "flow"`.
     */
    int32_t (*book_event)(void *state, struct colo_context *context, const colo_book_event *event);
    /*
     An instrument's phase changed, with `data = "flow"` on an exchange.
     */
    int32_t (*phase)(void *state, struct colo_context *context, const colo_market_phase *phase);
    /*
     What an auction would trade if it ended now.
     */
    int32_t (*indicative)(void *state, struct colo_context *context, const colo_indicative *indicative);
    /*
     The market traded.
     */
    int32_t (*trade)(void *state, struct colo_context *context, const colo_trade_print *trade);
    /*
     One of its orders changed state, or a request about one was refused.
     */
    int32_t (*order)(void *state, struct colo_context *context, const colo_order_update *update);
    /*
     Part of one of its orders traded.
     */
    int32_t (*fill)(void *state, struct colo_context *context, const colo_fill *fill);
    /*
     A timer is due.
     */
    int32_t (*timer)(void *state, struct colo_context *context, uint64_t timer, uint64_t key, uint64_t due_ns);
    /*
     It was too slow for the market data and lost this many bytes of it.
     */
    int32_t (*gap)(void *state, struct colo_context *context, uint64_t bytes);
    /*
     Once, at the end.
     */
    int32_t (*stop)(void *state, struct colo_context *context);
} colo_strategy;

/*
 A frame that was committed.
 */
typedef struct colo_written {
    /*
     Size of this structure: set it first, once.
     */
    uint32_t struct_size;
    /*
     Zero.
     */
    uint32_t reserved;
    /*
     Its position; of a batch that of its first frame.
     */
    uint64_t position;
    /*
     Its time.
     */
    uint64_t time;
    /*
     Position of the next frame.
     */
    uint64_t next;
} colo_written;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Who the strategy is.
 */
int32_t colo_who(const struct colo_context *context, struct colo_identity *identity);

/*
 The strategy's time in ns since the epoch: the platform's, on a deterministic platform the market's. 0 if the context is null.
 */
uint64_t colo_now(const struct colo_context *context);

/*
 One line in the node's log.
 */
int32_t colo_log(const struct colo_context *context, const char *line);

/*
 Ends the strategy in good order, as if it had been asked to stop from outside.
 */
int32_t colo_request_stop(struct colo_context *context);

/*
 A listed instrument, copied.
 */
int32_t colo_instrument_by_id(const struct colo_context *context, uint32_t id, colo_instrument *instrument);

/*
 A listed instrument by its symbol, copied.
 */
int32_t colo_instrument_by_symbol(const struct colo_context *context, const char *symbol, colo_instrument *instrument);

/*
 The numbers of the instruments that the strategy reads, ascending: as many as there are is returned, and up to `room` are stored.
 */
int32_t colo_instruments(const struct colo_context *context, uint32_t *ids, size_t room);

/*
 The latest quote of an instrument that the strategy reads, copied. With `data = "depth"`.
 */
int32_t colo_last_quote(const struct colo_context *context, uint32_t instrument, colo_quote *quote);

/*
 The latest best bid and ask of an instrument that the strategy reads, copied.
 */
int32_t colo_last_best(const struct colo_context *context, uint32_t instrument, colo_best *best);

/*
 Ten levels of an instrument, behind the best that was heard last or a later one.
 */
int32_t colo_depth(const struct colo_context *context, uint32_t instrument, colo_quote *quote);

/*
 The strategy's position in an instrument.
 */
int32_t colo_position_of(const struct colo_context *context, uint32_t instrument, struct colo_position *position);

/*
 How the strategy's default account stands, where accounts are kept.
 */
int32_t colo_account(const struct colo_context *context, colo_account_state *state);

/*
 How an account stands.
 */
int32_t colo_account_of(const struct colo_context *context, uint32_t account, colo_account_state *state);

/*
 Calls `timer` with `key` in `delay_ns`, once. `timer`, which may be null, gets its number.
 */
int32_t colo_timer_after(struct colo_context *context, uint64_t delay_ns, uint64_t key, uint64_t *timer);

/*
 Calls `timer` with `key` at a time of the strategy's clock, once.
 */
int32_t colo_timer_at(struct colo_context *context, uint64_t time_ns, uint64_t key, uint64_t *timer);

/*
 1 if the timer was still set, else 0.
 */
int32_t colo_timer_cancel(struct colo_context *context, uint64_t timer);

/*
 What a code means, without where and what: in memory that stays.
 */
const char *colo_code_text(int32_t code);

/*
 What, where, and what to do about the latest failure in this thread; valid until the next call of this function in this thread.
 */
const char *colo_error(void);

/*
 Opens a journal to write, or to read with a seat. `rings`: the folder of its ring, where that is on huge pages; null: the same folder.
 Close it with `colo_journal_close`; its readers and writer do not need it.
 */
int32_t colo_journal_open(const char *folder,
                          const char *rings,
                          const char *name,
                          struct colo_journal **journal);

/*
 As `colo_journal_open`, for one who only looks on: without a seat, and shared memory stays as it is.
 */
int32_t colo_journal_open_read_only(const char *folder, const char *rings, const char *name, struct colo_journal **journal);

/*
 Closes it; null is fine.
 */
void colo_journal_close(struct colo_journal *journal);

/*
 What the journal is, and how far it is. Looks at the writer's process: not for every turn of a loop.
 */
int32_t colo_journal_look(struct colo_journal *journal, struct colo_journal_state *state);

/*
 Position of the oldest frame that can still be read.
 */
int32_t colo_journal_oldest(struct colo_journal *journal, uint64_t *position);

/*
 Says for which topics a seat wants to be woken; `topics` null: for all. Call `colo_announce` behind it, before the first sleep.
 */
int32_t colo_journal_interest(struct colo_journal *journal, uint32_t seat, const uint32_t *topics, size_t count);

/*
 Opens the registry of an instance: the file `registry` in its folder.
 */
int32_t colo_registry_open(const char *path, struct colo_registry **registry);

/*
 Closes it; null is fine. Writers that wake through it keep it.
 */
void colo_registry_close(struct colo_registry *registry);

/*
 Sends an order; `id`, which may be null, gets its number at once. What becomes of it comes through `order` and `fill`.
 */
int32_t colo_order_send(struct colo_context *context, const struct colo_order_request *request, uint64_t *id);

/*
 Asks for the rest of an order to be taken out of the book.
 */
int32_t colo_order_cancel(struct colo_context *context, uint64_t id);

/*
 Asks for a new price and a new whole quantity, what has traded included.
 */
int32_t colo_order_replace(struct colo_context *context, uint64_t id, int64_t price, int64_t quantity);

/*
 Asks for all orders that match to be cancelled, with one message. `id`, which may be null, gets the number under which it is answered.
 */
int32_t colo_order_cancel_all(struct colo_context *context,
                              const struct colo_cancel_request *request,
                              uint64_t *id);

/*
 One order, if it has not ended; `COLO_E_UNKNOWN_ORDER` otherwise.
 */
int32_t colo_order_by_id(const struct colo_context *context, uint64_t id, struct colo_working_order *order);

/*
 The orders that have not ended, by ascending id: as many as there are is returned, and up to `room` are stored. Only the first
 element's `struct_size` is looked at.
 */
int32_t colo_orders(const struct colo_context *context, struct colo_working_order *orders, size_t room);

/*
 How much of the orders on this side may still trade.
 */
int32_t colo_working_quantity(const struct colo_context *context, uint32_t instrument, uint8_t side, int64_t *quantity);

/*
 A whole number. `COLO_E_NOTHING` if it is not given: `value` stays as it is, so set the default before.
 */
int32_t colo_parameter_integer(struct colo_parameters *parameters, const char *name, int64_t *value);

/*
 A number; otherwise as `colo_parameter_integer`.
 */
int32_t colo_parameter_number(struct colo_parameters *parameters, const char *name, double *value);

/*
 A text, with a zero behind it, into `room` bytes; otherwise as `colo_parameter_integer`.
 */
int32_t colo_parameter_text(struct colo_parameters *parameters, const char *name, char *value, size_t room);

/*
 Reads gated in a seat: the writer waits for it, and it misses nothing. It begins at the seat's cursor, or at the head.
 */
int32_t colo_attach_gated(struct colo_journal *journal, uint32_t seat, struct colo_reader **reader);

/*
 Reads loosely in a seat, from a position that starts a frame, or the head: the writer may overtake it. One before the journal's first
 frame or beyond its head is refused, `COLO_E_NO_SUCH_POSITION`: `colo_journal_look` and `colo_journal_oldest` have those that there are.
 */
int32_t colo_attach_loose(struct colo_journal *journal,
                          uint32_t seat,
                          uint64_t position,
                          struct colo_reader **reader);

/*
 As `colo_attach_loose`, without a seat: nobody notices.
 */
int32_t colo_observe(struct colo_journal *journal, uint64_t position, struct colo_reader **reader);

/*
 Ends reading; a gated reader's cursor stays where it is. Null is fine.
 */
void colo_reader_close(struct colo_reader *reader);

/*
 The next frame: 1 and the frame, 0 if none is there yet, or a code. The frame before it is finished with this call.
 */
int32_t colo_next(struct colo_reader *reader, struct colo_frame *frame);

/*
 The frames that are there, up to `most` of them, as they lie in the ring: their number, 0 if there is none, or a code. Those of the
 call before are finished with this one. A loose reader's are a copy. All topics, whatever `colo_reader_topics` said.
 */
int32_t colo_next_batch(struct colo_reader *reader,
                        uint32_t most,
                        struct colo_batch *batch);

/*
 What was lost, behind `COLO_E_LAPPED`.
 */
int32_t colo_gap(struct colo_reader *reader, struct colo_gap_bounds *gap);

/*
 Finishes with all frames so far: a gated reader's writer may overwrite them. Call it before a sleep.
 */
int32_t colo_release(struct colo_reader *reader);

/*
 Keeps frames from `position` on from being overwritten although they were read: gated readers that must read them again after a
 crash. Never less than before.
 */
int32_t colo_keep(struct colo_reader *reader, uint64_t position);

/*
 Returns only frames of these topics from now on; `topics` null: of all. For `colo_next`.
 */
int32_t colo_reader_topics(struct colo_reader *reader, const uint32_t *topics, size_t count);

/*
 Position of the next frame.
 */
int32_t colo_reader_position(struct colo_reader *reader, uint64_t *position);

/*
 The rest of a strategy's `main`: reads the command line, joins the platform as the node that it or the environment names, and runs to
 the end. Returns the exit code of the process: 0 done, 1 failed, 2 usage, 69 no master, 77 not permitted; or a negative code of this
 library. Once a process.
 */
int32_t colo_run(const struct colo_strategy *strategy);

/*
 Makes what `colo_journal_interest` said known to all writers.
 */
int32_t colo_announce(struct colo_registry *registry);

/*
 Sleeps on the seat's word until a writer wakes it or `timeout_ns` is over, unless one of the readers has news already:
 `COLO_PARK_NEWS`, `COLO_PARK_WOKEN` or `COLO_PARK_TIMEOUT`. Their cursors are released first. A platform's own nodes sleep no longer
 than 400 ms.
 */
int32_t colo_park(struct colo_registry *registry,
                  uint32_t seat,
                  struct colo_reader *const *readers,
                  size_t count,
                  uint64_t timeout_ns);

/*
 Becomes the journal's writer. With a registry its frames have the instance's time and wake its nodes; without one (null) nobody is
 woken.
 */
int32_t colo_attach_writer(struct colo_journal *journal,
                           uint32_t seat,
                           struct colo_registry *registry,
                           struct colo_writer **writer);

/*
 Leaves the journal; what is begun is abandoned. Null is fine.
 */
void colo_writer_close(struct colo_writer *writer);

/*
 Commits one frame, whole or not at all. `written` may be null.
 */
int32_t colo_write(struct colo_writer *writer,
                   uint16_t message_id,
                   uint32_t topic,
                   const void *payload,
                   size_t length,
                   struct colo_written *written);

/*
 Begins a frame of up to `room` bytes, to be filled in place with `colo_put` and made visible with `colo_commit`.
 */
int32_t colo_claim(struct colo_writer *writer, uint16_t message_id, uint32_t topic, size_t room);

/*
 Begins a batch: frames that become visible at once, added with `colo_push`.
 */
int32_t colo_begin_batch(struct colo_writer *writer);

/*
 Begins one frame of up to `most` records of `size` bytes each, added with `colo_put`.
 */
int32_t colo_claim_records(struct colo_writer *writer, uint16_t message_id, uint32_t topic, size_t size, size_t most);

/*
 Adds bytes to the claimed frame, or one record to the claimed records.
 */
int32_t colo_put(struct colo_writer *writer, const void *bytes, size_t length);

/*
 Adds a frame to the batch. `position`, which may be null, gets where it will be.
 */
int32_t colo_push(struct colo_writer *writer,
                  uint16_t message_id,
                  uint32_t topic,
                  const void *payload,
                  size_t length,
                  uint64_t *position);

/*
 Makes what was begun visible, all at once: 0, or 1 if nothing was put into it and nothing was written. `written` may be null.
 */
int32_t colo_commit(struct colo_writer *writer, struct colo_written *written);

/*
 Drops what was begun: nothing of it was ever there.
 */
int32_t colo_abandon(struct colo_writer *writer);

/*
 Makes `position` that of the next frame: the space up to it is filled with void frames, which readers pass over.
 */
int32_t colo_skip_to(struct colo_writer *writer, uint64_t position);

/*
 Position of the next frame, and the writer's epoch; either may be null.
 */
int32_t colo_writer_position(struct colo_writer *writer, uint64_t *position, uint64_t *epoch);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* COLO_FUNCTIONS_H */

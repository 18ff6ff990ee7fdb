// colo from C++17: header only, on top of the C interface. README.md beside this folder goes from nothing to a running strategy.
//
// - What is owned is closed by its destructor, and moves.
// - Nothing here throws: what can fail returns a result. It compiles with -fno-exceptions.
// - A strategy is a class that derives from colo::strategy<itself> and has the functions that it needs; those that it does not have are
//   not called. An exception that leaves one of them ends the strategy as failed, and does not leave the library.
#ifndef COLO_HPP
#define COLO_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions)
#include <exception>
#endif

#include "colo.h"

namespace colo {

/// Why something failed: the code, and the library's words about it.
class error {
public:
    explicit error(int code) : code_(code), text_(colo_error()) {}

    int code() const { return code_; }
    /// What, where, and what to do.
    const std::string &text() const { return text_; }
    /// What the code means.
    const char *meaning() const { return colo_code_text(code_); }

private:
    int code_;
    std::string text_;
};

/// A value, or why there is none.
template <class T> class [[nodiscard]] result {
public:
    result(T value) : value_(std::move(value)) {}
    result(error why) : error_(std::move(why)) {}

    explicit operator bool() const { return value_.has_value(); }
    /// Only if there is one.
    T &operator*() { return *value_; }
    const T &operator*() const { return *value_; }
    T *operator->() { return &*value_; }
    const T *operator->() const { return &*value_; }
    /// Only if there is no value.
    const error &why() const { return *error_; }
    int code() const { return error_ ? error_->code() : 0; }

private:
    std::optional<T> value_;
    std::optional<error> error_;
};

/// Done, or why not.
template <> class [[nodiscard]] result<void> {
public:
    result() = default;
    result(error why) : error_(std::move(why)) {}

    explicit operator bool() const { return !error_.has_value(); }
    const error &why() const { return *error_; }
    int code() const { return error_ ? error_->code() : 0; }

private:
    std::optional<error> error_;
};

namespace detail {

/// A handle of the C interface, closed once.
template <class Handle, void (*Close)(Handle *)> class owned {
public:
    owned() = default;
    explicit owned(Handle *handle) : handle_(handle) {}
    owned(owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    owned &operator=(owned &&other) noexcept {
        if (this != &other) {
            Close(handle_);
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    owned(const owned &) = delete;
    owned &operator=(const owned &) = delete;
    ~owned() { Close(handle_); }

    Handle *get() const { return handle_; }

private:
    Handle *handle_ = nullptr;
};

/// A structure that begins with its size, everything else clear.
template <class T> T sized() {
    T value{};
    value.struct_size = static_cast<std::uint32_t>(sizeof(T));
    return value;
}

inline result<void> done(int code) {
    if (code < 0) return error(code);
    return {};
}

} // namespace detail

/// The registry of an instance: its clock, and the words on which its nodes sleep.
class registry : public detail::owned<colo_registry, colo_registry_close> {
public:
    using owned::owned;

    static result<registry> open(const std::string &path) {
        colo_registry *handle = nullptr;
        if (int code = colo_registry_open(path.c_str(), &handle); code < 0) return error(code);
        return registry(handle);
    }

    result<void> announce() { return detail::done(colo_announce(get())); }
};

/// One message of a frame: of a frame of records each record, otherwise the payload.
struct record {
    /// Identifies it.
    std::uint64_t position;
    const std::uint8_t *bytes;
    std::size_t size;
};

/// A frame. Its payload is lent until the reader's next call.
struct frame : colo_frame {
    frame() : colo_frame(detail::sized<colo_frame>()) {}

    /// The payload as this message; null if it is another one, or has another size.
    template <class T> const T *as(std::uint16_t id) const {
        static_assert(std::is_trivially_copyable_v<T>);
        return message_id == id && length == sizeof(T) ? reinterpret_cast<const T *>(payload) : nullptr;
    }

    /// Calls `each` with every record.
    template <class Each> void records(Each &&each) const {
        const std::uint32_t size = colo_record_size(this);
        if (size == 0) return each(record{position, payload, length});
        for (std::uint32_t index = 0; index < length / size; ++index)
            each(record{colo_record_position(this, index), payload + std::size_t{index} * size, size});
    }
};

/// Reads a journal, gated or loose.
class reader : public detail::owned<colo_reader, colo_reader_close> {
public:
    using owned::owned;

    /// The next frame: true and the frame, false if none is there yet. `COLO_E_LAPPED`: see `gap`, and read on.
    result<bool> next(frame &frame) {
        const int code = colo_next(get(), &frame);
        if (code < 0) return error(code);
        return code == 1;
    }

    /// As `next`, for loops that count nanoseconds: 1, 0 or a code, and no text.
    int next_code(frame &frame) noexcept { return colo_next(get(), &frame); }

    /// Calls `each` with up to `most` frames, void ones counted, and returns how many it was called with.
    template <class Each> result<std::uint32_t> next_batch(std::uint32_t most, Each &&each) {
        auto batch = detail::sized<colo_batch>();
        int code = colo_next_batch(get(), most, &batch);
        if (code < 0) return error(code);
        std::uint32_t count = 0;
        if (code == 0) return count;
        frame frame;
        while ((code = colo_batch_next(&batch, &frame)) == 1) {
            each(static_cast<const colo::frame &>(frame));
            ++count;
        }
        if (code < 0) return error(code);
        return count;
    }

    colo_gap_bounds gap() const {
        auto gap = detail::sized<colo_gap_bounds>();
        colo_gap(get(), &gap);
        return gap;
    }

    std::uint64_t position() const {
        std::uint64_t position = 0;
        colo_reader_position(get(), &position);
        return position;
    }

    /// Finishes with all frames so far.
    result<void> release() { return detail::done(colo_release(get())); }
    result<void> keep(std::uint64_t position) { return detail::done(colo_keep(get(), position)); }
    result<void> topics(const std::vector<std::uint32_t> &topics) {
        return detail::done(colo_reader_topics(get(), topics.data(), topics.size()));
    }
};

/// The writer of a journal.
class writer : public detail::owned<colo_writer, colo_writer_close> {
public:
    using owned::owned;
    using written = colo_written;

    result<written> write(std::uint16_t id, std::uint32_t topic, const void *bytes, std::size_t size) {
        auto written = detail::sized<colo_written>();
        if (int code = colo_write(get(), id, topic, bytes, size, &written); code < 0) return error(code);
        return written;
    }

    /// Writes a message of a fixed layout.
    template <class T> result<written> write(std::uint16_t id, std::uint32_t topic, const T &message) {
        static_assert(std::is_trivially_copyable_v<T>);
        return write(id, topic, &message, sizeof message);
    }

    result<void> claim(std::uint16_t id, std::uint32_t topic, std::size_t room) {
        return detail::done(colo_claim(get(), id, topic, room));
    }
    result<void> claim_records(std::uint16_t id, std::uint32_t topic, std::size_t size, std::size_t most) {
        return detail::done(colo_claim_records(get(), id, topic, size, most));
    }
    result<void> begin_batch() { return detail::done(colo_begin_batch(get())); }
    result<void> put(const void *bytes, std::size_t size) { return detail::done(colo_put(get(), bytes, size)); }
    /// Adds a frame to the batch, and returns where it will be.
    result<std::uint64_t> push(std::uint16_t id, std::uint32_t topic, const void *bytes, std::size_t size) {
        std::uint64_t position = 0;
        if (int code = colo_push(get(), id, topic, bytes, size, &position); code < 0) return error(code);
        return position;
    }
    /// Makes what was begun visible; nothing if nothing was put into it.
    result<std::optional<written>> commit() {
        auto written = detail::sized<colo_written>();
        const int code = colo_commit(get(), &written);
        if (code < 0) return error(code);
        return code == 1 ? std::optional<colo_written>() : std::optional<colo_written>(written);
    }
    void abandon() { colo_abandon(get()); }
    result<void> skip_to(std::uint64_t position) { return detail::done(colo_skip_to(get(), position)); }

    std::uint64_t position() const {
        std::uint64_t position = 0;
        colo_writer_position(get(), &position, nullptr);
        return position;
    }
    std::uint64_t epoch() const {
        std::uint64_t epoch = 0;
        colo_writer_position(get(), nullptr, &epoch);
        return epoch;
    }
};

/// A journal of an instance.
class journal : public detail::owned<colo_journal, colo_journal_close> {
public:
    using owned::owned;
    using state = colo_journal_state;

    static result<journal> open(const std::string &folder, const std::string &name) {
        colo_journal *handle = nullptr;
        if (int code = colo_journal_open(folder.c_str(), nullptr, name.c_str(), &handle); code < 0) return error(code);
        return journal(handle);
    }
    static result<journal> open_read_only(const std::string &folder, const std::string &name) {
        colo_journal *handle = nullptr;
        if (int code = colo_journal_open_read_only(folder.c_str(), nullptr, name.c_str(), &handle); code < 0) return error(code);
        return journal(handle);
    }

    state look() const {
        auto state = detail::sized<colo_journal_state>();
        colo_journal_look(get(), &state);
        return state;
    }
    result<std::uint64_t> oldest() const {
        std::uint64_t position = 0;
        if (int code = colo_journal_oldest(get(), &position); code < 0) return error(code);
        return position;
    }
    result<reader> gated(std::uint32_t seat) {
        colo_reader *handle = nullptr;
        if (int code = colo_attach_gated(get(), seat, &handle); code < 0) return error(code);
        return reader(handle);
    }
    result<reader> loose(std::uint32_t seat, std::uint64_t position) {
        colo_reader *handle = nullptr;
        if (int code = colo_attach_loose(get(), seat, position, &handle); code < 0) return error(code);
        return reader(handle);
    }
    result<reader> observe(std::uint64_t position) {
        colo_reader *handle = nullptr;
        if (int code = colo_observe(get(), position, &handle); code < 0) return error(code);
        return reader(handle);
    }
    result<writer> write(std::uint32_t seat, registry *wakes = nullptr) {
        colo_writer *handle = nullptr;
        if (int code = colo_attach_writer(get(), seat, wakes == nullptr ? nullptr : wakes->get(), &handle); code < 0)
            return error(code);
        return writer(handle);
    }
    /// For which topics a seat wants to be woken.
    result<void> interest(std::uint32_t seat, const std::vector<std::uint32_t> &topics) {
        // Null means all, and an empty list none.
        const std::uint32_t none = 0;
        return detail::done(colo_journal_interest(get(), seat, topics.empty() ? &none : topics.data(), topics.size()));
    }
    result<void> interest_in_all(std::uint32_t seat) {
        return detail::done(colo_journal_interest(get(), seat, nullptr, 0));
    }
};

/// How a sleep ended.
enum class wakeup { news = COLO_PARK_NEWS, woken = COLO_PARK_WOKEN, timeout = COLO_PARK_TIMEOUT };

/// Sleeps on the seat's word until there is news for a reader, or the time is up.
inline result<wakeup> park(registry &registry, std::uint32_t seat, reader &reader, std::chrono::nanoseconds timeout) {
    colo_reader *handle = reader.get();
    const int code = colo_park(registry.get(), seat, &handle, 1, static_cast<std::uint64_t>(timeout.count()));
    if (code < 0) return error(code);
    return static_cast<wakeup>(code);
}

/// A new order.
struct order : colo_order_request {
    order() : colo_order_request(detail::sized<colo_order_request>()) {}

    static order limit(std::uint8_t side, std::uint32_t instrument, std::int64_t price, std::int64_t quantity) {
        order order;
        order.side = side;
        order.instrument = instrument;
        order.price = price;
        order.quantity = quantity;
        order.order_type = COLO_ORDER_TYPE_LIMIT;
        order.time_in_force = COLO_TIME_IN_FORCE_DAY;
        return order;
    }
    static order market(std::uint8_t side, std::uint32_t instrument, std::int64_t quantity) {
        order order = limit(side, instrument, COLO_NO_PRICE, quantity);
        order.order_type = COLO_ORDER_TYPE_MARKET;
        return order.ioc();
    }
    order ioc() const { return with(COLO_TIME_IN_FORCE_IOC); }
    order fok() const { return with(COLO_TIME_IN_FORCE_FOK); }
    order post_only() const { return with(COLO_TIME_IN_FORCE_POST_ONLY); }
    order for_account(std::uint32_t number) const {
        order other = *this;
        other.account = number;
        other.with_account = 1;
        return other;
    }

private:
    order with(std::uint32_t lifetime) const {
        order other = *this;
        other.time_in_force = static_cast<std::uint8_t>(lifetime);
        return other;
    }
};

/// The parameters of a strategy, while it is made. A name that is never asked for is an error if it is given.
class parameters {
public:
    explicit parameters(colo_parameters *handle) : handle_(handle) {}

    std::int64_t integer(const char *name, std::int64_t otherwise) {
        note(colo_parameter_integer(handle_, name, &otherwise));
        return otherwise;
    }
    double number(const char *name, double otherwise) {
        note(colo_parameter_number(handle_, name, &otherwise));
        return otherwise;
    }
    std::string text(const char *name, std::string otherwise) {
        char value[1024];
        const int code = colo_parameter_text(handle_, name, value, sizeof value);
        note(code);
        return code == 0 ? std::string(value) : otherwise;
    }
    /// The strategy cannot be made from these.
    void refuse(std::string why) {
        if (problem_.empty()) problem_ = std::move(why);
    }
    const std::string &problem() const { return problem_; }

private:
    void note(int code) {
        if (code < 0 && code != COLO_E_NOTHING) refuse(colo_error());
    }

    colo_parameters *handle_;
    std::string problem_;
};

/// The platform as a strategy sees it; valid until the function that got it returns.
class context {
public:
    explicit context(colo_context *handle) : handle_(handle) {}
    context(const context &) = delete;
    context &operator=(const context &) = delete;

    std::uint64_t now() const { return colo_now(handle_); }
    void log(const std::string &line) const { colo_log(handle_, line.c_str()); }
    void request_stop() { colo_request_stop(handle_); }
    colo_identity who() const {
        auto identity = detail::sized<colo_identity>();
        colo_who(handle_, &identity);
        return identity;
    }

    std::optional<colo_instrument> instrument(std::uint32_t id) const {
        colo_instrument found;
        return colo_instrument_by_id(handle_, id, &found) == 0 ? std::optional<colo_instrument>(found) : std::nullopt;
    }
    std::optional<colo_instrument> instrument(const std::string &symbol) const {
        colo_instrument found;
        const int code = colo_instrument_by_symbol(handle_, symbol.c_str(), &found);
        return code == 0 ? std::optional<colo_instrument>(found) : std::nullopt;
    }
    /// The numbers of those that it reads.
    std::vector<std::uint32_t> instruments() const {
        std::vector<std::uint32_t> ids(COLO_MAX_INSTRUMENTS);
        const int count = colo_instruments(handle_, ids.data(), ids.size());
        ids.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
        return ids;
    }
    result<colo_quote> last_quote(std::uint32_t instrument) const {
        colo_quote quote;
        if (int code = colo_last_quote(handle_, instrument, &quote); code < 0) return error(code);
        return quote;
    }
    result<colo_best> last_best(std::uint32_t instrument) const {
        colo_best best;
        if (int code = colo_last_best(handle_, instrument, &best); code < 0) return error(code);
        return best;
    }
    result<colo_quote> depth(std::uint32_t instrument) const {
        colo_quote quote;
        if (int code = colo_depth(handle_, instrument, &quote); code < 0) return error(code);
        return quote;
    }
    colo_position position(std::uint32_t instrument) const {
        auto position = detail::sized<colo_position>();
        colo_position_of(handle_, instrument, &position);
        return position;
    }
    result<colo_account_state> account() const {
        colo_account_state state;
        if (int code = colo_account(handle_, &state); code < 0) return error(code);
        return state;
    }
    result<colo_account_state> account(std::uint32_t number) const {
        colo_account_state state;
        if (int code = colo_account_of(handle_, number, &state); code < 0) return error(code);
        return state;
    }

    /// Sends an order and returns its id.
    result<std::uint64_t> send(const order &order) {
        std::uint64_t id = 0;
        if (int code = colo_order_send(handle_, &order, &id); code < 0) return error(code);
        return id;
    }
    result<void> cancel(std::uint64_t id) { return detail::done(colo_order_cancel(handle_, id)); }
    result<void> replace(std::uint64_t id, std::int64_t price, std::int64_t quantity) {
        return detail::done(colo_order_replace(handle_, id, price, quantity));
    }
    /// Cancels all orders that match; 0 matches any.
    result<std::uint64_t> cancel_all(std::uint32_t instrument = 0, std::uint8_t side = 0) {
        auto request = detail::sized<colo_cancel_request>();
        request.instrument = instrument;
        request.side = side;
        std::uint64_t id = 0;
        if (int code = colo_order_cancel_all(handle_, &request, &id); code < 0) return error(code);
        return id;
    }
    std::optional<colo_working_order> working_order(std::uint64_t id) const {
        auto order = detail::sized<colo_working_order>();
        return colo_order_by_id(handle_, id, &order) == 0 ? std::optional<colo_working_order>(order) : std::nullopt;
    }
    std::vector<colo_working_order> working_orders() const {
        const int count = colo_orders(handle_, nullptr, 0);
        std::vector<colo_working_order> orders(count < 0 ? 0 : static_cast<std::size_t>(count), detail::sized<colo_working_order>());
        colo_orders(handle_, orders.data(), orders.size());
        return orders;
    }
    std::int64_t working_quantity(std::uint32_t instrument, std::uint8_t side) const {
        std::int64_t quantity = 0;
        colo_working_quantity(handle_, instrument, side, &quantity);
        return quantity;
    }

    /// Calls `timer` with `key`, once.
    std::uint64_t set_timer(std::chrono::nanoseconds delay, std::uint64_t key) {
        std::uint64_t timer = 0;
        colo_timer_after(handle_, static_cast<std::uint64_t>(delay.count()), key, &timer);
        return timer;
    }
    std::uint64_t set_timer_at(std::uint64_t time_ns, std::uint64_t key) {
        std::uint64_t timer = 0;
        colo_timer_at(handle_, time_ns, key, &timer);
        return timer;
    }
    bool cancel_timer(std::uint64_t timer) { return colo_timer_cancel(handle_, timer) == 1; }

private:
    colo_context *handle_;
};

/// A timer that is due.
struct due_timer {
    std::uint64_t id, key, due_ns;
};

/// What a strategy derives from, as `class taker : public colo::strategy<taker>`. It is made from `colo::parameters &`, and declares
/// those of these functions that it needs, with the same arguments.
template <class Self> class strategy {
public:
    void start(context &) {}
    void instrument(context &, const colo_instrument &) {}
    void quote(context &, const colo_quote &) {}
    void best(context &, std::uint32_t, const colo_best &) {}
    void book_event(context &, const colo_book_event &) {}
    void phase(context &, const colo_market_phase &) {}
    void indicative(context &, const colo_indicative &) {}
    void trade(context &, const colo_trade_print &) {}
    void order(context &, const colo_order_update &) {}
    void fill(context &, const colo_fill &) {}
    void timer(context &, const due_timer &) {}
    void gap(context &, std::uint64_t) {}
    void stop(context &) {}

    /// The rest of `main`: joins the platform and runs to the end. The exit code of the process.
    static int run() {
        auto table = detail::sized<colo_strategy>();
        table.create = create;
        table.destroy = [](void *state) { delete static_cast<Self *>(state); };
        // Whose function is still ours has none of its own, and is not called.
#define COLO_HAS(name) (!std::is_same_v<decltype(&Self::name), decltype(&strategy::name)>)
#define COLO_ON(field, name, type)                                                                                       \
    if constexpr (COLO_HAS(name))                                                                                        \
        table.field = [](void *state, colo_context *handle, const type *what) {                                          \
            return call(handle, #name, [&](context &context) { static_cast<Self *>(state)->name(context, *what); });     \
        };
        COLO_ON(instrument, instrument, colo_instrument)
        COLO_ON(quote, quote, colo_quote)
        COLO_ON(book_event, book_event, colo_book_event)
        COLO_ON(phase, phase, colo_market_phase)
        COLO_ON(indicative, indicative, colo_indicative)
        COLO_ON(trade, trade, colo_trade_print)
        COLO_ON(order, order, colo_order_update)
        COLO_ON(fill, fill, colo_fill)
        if constexpr (COLO_HAS(best))
            table.best = [](void *state, colo_context *handle, std::uint32_t instrument, const colo_best *best) {
                return call(handle, "best",
                            [&](context &context) { static_cast<Self *>(state)->best(context, instrument, *best); });
            };
        if constexpr (COLO_HAS(timer))
            table.timer = [](void *state, colo_context *handle, std::uint64_t id, std::uint64_t key, std::uint64_t due) {
                return call(handle, "timer", [&](context &context) {
                    static_cast<Self *>(state)->timer(context, due_timer{id, key, due});
                });
            };
        if constexpr (COLO_HAS(gap))
            table.gap = [](void *state, colo_context *handle, std::uint64_t bytes) {
                return call(handle, "gap", [&](context &context) { static_cast<Self *>(state)->gap(context, bytes); });
            };
        if constexpr (COLO_HAS(start))
            table.start = [](void *state, colo_context *handle) {
                return call(handle, "start", [&](context &context) { static_cast<Self *>(state)->start(context); });
            };
        if constexpr (COLO_HAS(stop))
            table.stop = [](void *state, colo_context *handle) {
                return call(handle, "stop", [&](context &context) { static_cast<Self *>(state)->stop(context); });
            };
#undef COLO_ON
#undef COLO_HAS
        return colo_run(&table);
    }

private:
    static void *create(void *, colo_parameters *handle, const char **problem) {
        // The text stays: a strategy that is refused ends its process, or its place in a host.
        static thread_local std::string text;
        parameters parameters(handle);
        Self *made = nullptr;
#if defined(__cpp_exceptions)
        try {
            made = new Self(parameters);
        } catch (const std::exception &thrown) {
            parameters.refuse(thrown.what());
        } catch (...) {
            parameters.refuse("the strategy's constructor threw");
        }
#else
        made = new (std::nothrow) Self(parameters);
        if (made == nullptr) parameters.refuse("no memory");
#endif
        text = parameters.problem();
        if (!text.empty()) {
            delete made;
            made = nullptr;
            *problem = text.c_str();
        }
        return made;
    }

    template <class Body> static int call(colo_context *handle, const char *name, Body &&body) {
        context context(handle);
#if defined(__cpp_exceptions)
        try {
            body(context);
            return 0;
        } catch (const std::exception &thrown) {
            context.log(std::string(name) + " threw: " + thrown.what());
        } catch (...) {
            context.log(std::string(name) + " threw");
        }
        return 1;
#else
        (void)name;
        body(context);
        return 0;
#endif
    }
};

} // namespace colo

#endif

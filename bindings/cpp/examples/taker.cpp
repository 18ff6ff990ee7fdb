// Buys a lot at the ask while it holds fewer than `max_position` lots, and says what it traded.
#include <colo.hpp>

class taker : public colo::strategy<taker> {
public:
    explicit taker(colo::parameters &parameters) : max_position_(parameters.integer("max_position", 5)) {
        if (max_position_ < 1) parameters.refuse("max_position must be at least 1");
    }

    void quote(colo::context &context, const colo_quote &quote) {
        const auto instrument = context.instrument(quote.instrument);
        const colo_level &ask = quote.asks[0];
        if (!instrument || ask.quantity == 0) return;
        // One order at a time.
        if (context.working_quantity(quote.instrument, COLO_SIDE_BUY) > 0) return;
        const auto held = context.position(quote.instrument).quantity;
        if (held + instrument->lot > max_position_ * instrument->lot) return;
        const auto order = colo::order::limit(COLO_SIDE_BUY, quote.instrument, ask.price, instrument->lot).ioc();
        if (auto sent = context.send(order); !sent) context.log(sent.why().text());
    }

    void fill(colo::context &context, const colo_fill &fill) {
        context.log("bought " + std::to_string(fill.quantity) + " at " + std::to_string(fill.price));
    }

private:
    std::int64_t max_position_;
};

int main() { return taker::run(); }

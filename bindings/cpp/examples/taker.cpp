// The smallest strategy that trades: at quotes of its instruments it sends an immediate-or-cancel order at the best price of the
// other side, buying and selling in turn, and never beyond its position limit.
#include <colo.hpp>

#include <algorithm>
#include <array>

class taker : public colo::strategy<taker> {
public:
    explicit taker(colo::parameters &parameters)
        : quantity_(parameters.integer("quantity", 1)), every_(parameters.integer("every", 1)),
          max_position_(parameters.integer("max_position", 10)) {
        if (std::min({quantity_, every_, max_position_}) < 1)
            parameters.refuse("`quantity`, `every` and `max_position` must be at least 1");
    }

    void quote(colo::context &context, const colo_quote &quote) {
        answer(context, quote.instrument, quote.bids[0].price, quote.asks[0].price);
    }

    void best(colo::context &context, std::uint32_t instrument, const colo_best &best) {
        answer(context, instrument, best.bid, best.ask);
    }

private:
    void answer(colo::context &context, std::uint32_t id, std::int64_t bid, std::int64_t ask) {
        if (++quotes_ % every_ != 0) return;
        const auto instrument = context.instrument(id);
        if (!instrument) return;
        const auto lot = std::max<std::int64_t>(instrument->lot, 1);
        bool sells = sells_[id];
        if (!has_room(context, id, sells, lot)) {
            sells = !sells;
            if (!has_room(context, id, sells, lot)) return;
        }
        const auto price = sells ? bid : ask;
        if (price == COLO_NO_PRICE) return;
        const auto side = static_cast<std::uint8_t>(sells ? COLO_SIDE_SELL : COLO_SIDE_BUY);
        if (auto sent = context.send(colo::order::limit(side, id, price, quantity_ * lot).ioc()); !sent)
            context.log(sent.why().text());
        else
            sells_[id] = !sells;
    }

    // What works may still trade: it counts as traded.
    bool has_room(colo::context &context, std::uint32_t id, bool sells, std::int64_t lot) const {
        const auto held = context.position(id).quantity * (sells ? -1 : 1);
        const auto works = context.working_quantity(id, sells ? COLO_SIDE_SELL : COLO_SIDE_BUY);
        return held + works + quantity_ * lot <= max_position_ * lot;
    }

    std::int64_t quantity_; // of one order, in lots
    std::int64_t every_;    // every n-th quote is answered
    std::int64_t max_position_; // lots that it may be long or short in one instrument
    std::int64_t quotes_ = 0;
    std::array<bool, COLO_MAX_INSTRUMENTS> sells_{}; // next
};

int main() { return taker::run(); }

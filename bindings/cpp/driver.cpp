// Does with a journal what it is told on its standard input: bindings/conformance/README.md has the protocol.
#include <colo.hpp>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

/// `error CODE TEXT`, from wherever it is found. Stays on this side of the library.
struct refused {
    std::string code, text;
};

[[noreturn]] void usage(const std::string &text) { throw refused{"usage", text}; }

const char *name_of(int code) {
    switch (code) {
    case COLO_E_IO: return "io";
    case COLO_E_FOREIGN: return "foreign";
    case COLO_E_VERSION: return "version";
    case COLO_E_DAMAGED: return "damaged";
    case COLO_E_REPLACED: return "replaced";
    case COLO_E_WRITER_EXISTS: return "writer-exists";
    case COLO_E_SEAT_TAKEN: return "seat-taken";
    case COLO_E_TOO_LATE: return "too-late";
    case COLO_E_NO_SUCH_SEAT: return "no-such-seat";
    case COLO_E_NO_SUCH_POSITION: return "no-such-position";
    case COLO_E_FULL: return "full";
    case COLO_E_BATCH_FULL: return "batch-full";
    case COLO_E_TOO_LARGE: return "too-large";
    case COLO_E_NO_SUCH_TOPIC: return "no-such-topic";
    default: return "usage";
    }
}

[[noreturn]] void refuse(const colo::error &why) { throw refused{name_of(why.code()), why.text()}; }

/// The value, or the refusal.
template <class T> T take(colo::result<T> found) {
    if (!found) refuse(found.why());
    return std::move(*found);
}

void must(const colo::result<void> &done) {
    if (!done) refuse(done.why());
}

std::uint64_t number(const std::string &word) {
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) usage("`" + word + "` is no number");
    return std::stoull(word);
}

std::uint64_t checksum(const std::uint8_t *bytes, std::size_t length) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < length; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

std::string hex(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

void say(const colo::frame &frame) {
    std::cout << "frame " << frame.position << ' ' << frame.message_id << ' ' << frame.topic << ' ' << frame.flags << ' '
              << frame.time << ' ' << frame.epoch << ' ' << frame.length << ' ' << hex(checksum(frame.payload, frame.length))
              << '\n';
    if (colo_record_size(&frame) == 0) return;
    frame.records([](const colo::record &record) {
        std::cout << "record " << record.position << ' ' << record.size << ' ' << hex(checksum(record.bytes, record.size)) << '\n';
    });
}

/// What `write`, `batch`, `records` and `half` have in common.
struct request {
    std::uint16_t id;
    std::uint32_t topic;
    std::uint64_t length, seed = 0, count = 1;
    bool is_forged;

    std::vector<std::uint8_t> payload(std::uint64_t index, std::uint64_t position, std::uint64_t capacity) const {
        std::vector<std::uint8_t> bytes(length);
        if (is_forged) {
            for (std::uint64_t i = 0; i + 8 <= length; i += 8) {
                const std::uint64_t value = position + COLO_FRAME_PAYLOAD + i + capacity;
                std::memcpy(&bytes[i], &value, sizeof value);
            }
        } else {
            for (std::uint64_t i = 0; i < length; ++i)
                bytes[i] = static_cast<std::uint8_t>((seed + index) * 167 + i * 31 + (i >> 8) * 13);
        }
        return bytes;
    }
};

class driver {
public:
    /// Carries a command out; the words behind `ok`.
    std::string command(const std::string &line) {
        words_ = std::istringstream(line);
        const std::string name = word();
        if (name == "hello") return "cpp 1 write batch records skip half loose gate keep park oldest";
        if (name == "registry") return registry_ = take(colo::registry::open(word())), "";
        if (name == "open") return open();
        if (name == "state") return state();
        if (name == "writer") return attach_writer();
        if (name == "write") return write();
        if (name == "batch") return batch();
        if (name == "records") return records();
        if (name == "skip") {
            const auto end = writer_.position() + next_number();
            must(writer_.skip_to(end));
            return std::to_string(end);
        }
        if (name == "half") return half();
        if (name == "loose") return loose();
        if (name == "gate") {
            seat_ = static_cast<std::uint32_t>(next_number());
            reader_ = take(journal_.gated(seat_));
            return std::to_string(reader_.position());
        }
        if (name == "next") return next();
        if (name == "keep") return must(reader_.keep(next_number())), "";
        if (name == "interest") return interest();
        if (name == "park") return park();
        if (name == "kill") die();
        usage("there is no command `" + name + "`");
    }

private:
    [[noreturn]] static void die() {
        kill(getpid(), SIGKILL);
        std::abort();
    }

    std::string word() {
        std::string word;
        words_ >> word;
        return word;
    }
    std::uint64_t next_number() { return number(word()); }
    std::uint64_t optional(std::uint64_t otherwise) {
        const auto text = word();
        return text.empty() ? otherwise : number(text);
    }
    request parse() {
        request request{};
        request.id = static_cast<std::uint16_t>(next_number());
        request.topic = static_cast<std::uint32_t>(next_number());
        request.length = next_number();
        const auto seed = word();
        request.is_forged = seed == "forged";
        if (!request.is_forged) request.seed = number(seed);
        request.count = optional(1);
        return request;
    }

    std::string open() {
        const auto folder = word(), name = word();
        journal_ = take(colo::journal::open(folder, name));
        const auto state = journal_.look();
        capacity_ = state.capacity;
        std::uint64_t identity = 0;
        std::ifstream file(folder + "/" + name + ".ctl", std::ios::binary);
        file.seekg(COLO_CONTROL_IDENTITY);
        file.read(reinterpret_cast<char *>(&identity), sizeof identity);
        if (!file) throw refused{"io", "the control file cannot be read"};
        return std::to_string(identity) + " " + std::to_string(state.head);
    }

    std::string state() {
        static const char *const writers[] = {"none", "attached", "closed", "dead"};
        const auto state = journal_.look();
        return std::to_string(state.epoch) + " " + writers[state.writer] + " " + std::to_string(state.head);
    }

    std::string attach_writer() {
        const auto seat = static_cast<std::uint32_t>(next_number());
        writer_ = take(journal_.write(seat, registry_.get() == nullptr ? nullptr : &registry_));
        epoch_ = writer_.epoch();
        return std::to_string(epoch_) + " " + std::to_string(writer_.position());
    }

    /// Says a frame that was written, as its reader will.
    void wrote(const request &request, std::uint64_t position, std::uint64_t time, std::uint16_t flags,
               const std::vector<std::uint8_t> &payload) {
        colo::frame frame;
        frame.position = position;
        frame.message_id = request.id;
        frame.topic = request.topic;
        frame.flags = flags;
        frame.time = time;
        frame.epoch = static_cast<std::uint32_t>(epoch_);
        frame.length = static_cast<std::uint32_t>(payload.size());
        frame.payload = payload.data();
        say(frame);
    }

    std::string done(std::uint64_t count) { return std::to_string(count) + " " + std::to_string(writer_.position()); }

    std::string write() {
        const auto request = parse();
        const auto until = clock_type::now() + std::chrono::milliseconds(optional(0));
        for (std::uint64_t i = 0; i < request.count; ++i) {
            const auto payload = request.payload(i, writer_.position(), capacity_);
            for (;;) {
                auto written = writer_.write(request.id, request.topic, payload.data(), payload.size());
                if (written) {
                    wrote(request, written->position, written->time, 0, payload);
                    break;
                }
                if (written.code() != COLO_E_FULL || clock_type::now() >= until) refuse(written.why());
                std::this_thread::yield();
            }
        }
        return done(request.count);
    }

    std::string batch() {
        const auto request = parse();
        std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> frames;
        auto next = writer_.position();
        must(writer_.begin_batch());
        for (std::uint64_t i = 0; i < request.count; ++i) {
            auto payload = request.payload(i, next, capacity_);
            auto position = writer_.push(request.id, request.topic, payload.data(), payload.size());
            if (!position) {
                writer_.abandon();
                refuse(position.why());
            }
            next = *position + ((COLO_FRAME_PAYLOAD + payload.size() + 63) & ~std::uint64_t{63});
            frames.emplace_back(*position, std::move(payload));
        }
        const auto written = take(writer_.commit());
        for (const auto &[position, payload] : frames) wrote(request, position, written->time, 0, payload);
        return done(request.count);
    }

    std::string records() {
        const auto request = parse();
        std::vector<std::uint8_t> payload;
        must(writer_.claim_records(request.id, request.topic, request.length, request.count));
        for (std::uint64_t i = 0; i < request.count; ++i) {
            const auto record = request.payload(i, 0, capacity_);
            if (auto put = writer_.put(record.data(), record.size()); !put) {
                writer_.abandon();
                refuse(put.why());
            }
            payload.insert(payload.end(), record.begin(), record.end());
        }
        const auto written = take(writer_.commit());
        wrote(request, written->position, written->time, static_cast<std::uint16_t>(request.length), payload);
        return done(1);
    }

    std::string half() {
        const bool is_batch = word() == "batch";
        const auto request = parse();
        const auto position = writer_.position();
        if (is_batch) {
            must(writer_.begin_batch());
            for (std::uint64_t i = 0; i < request.count; ++i) {
                const auto payload = request.payload(i, position, capacity_);
                take(writer_.push(request.id, request.topic, payload.data(), payload.size()));
            }
        } else {
            const auto payload = request.payload(0, position, capacity_);
            must(writer_.claim(request.id, request.topic, payload.size()));
            must(writer_.put(payload.data(), payload.size()));
        }
        std::cout << "ok " << position << std::endl;
        for (std::string line; std::getline(std::cin, line) && line != "kill";)
            std::cout << "error usage a frame is begun: only `kill` is heard" << std::endl;
        die();
    }

    std::string loose() {
        const auto where = word(), start = word();
        const auto state = journal_.look();
        const auto position = start == "head"     ? state.head
                              : start == "first"  ? state.first
                              : start == "oldest" ? take(journal_.oldest())
                                                  : number(start);
        if (where == "-") {
            reader_ = take(journal_.observe(position));
        } else {
            seat_ = static_cast<std::uint32_t>(number(where));
            reader_ = take(journal_.loose(seat_, position));
        }
        return std::to_string(reader_.position());
    }

    std::string next() {
        const auto most = next_number();
        const auto until = clock_type::now() + std::chrono::milliseconds(optional(0));
        std::uint64_t count = 0;
        while (count < most) {
            // One frame by a call of its own, several by batches: so both are held.
            const auto left = most - count;
            int code = 0;
            bool is_there = false;
            if (left % 2 == 1) {
                colo::frame frame;
                auto found = reader_.next(frame);
                code = found.code();
                is_there = found && *found;
                if (is_there) {
                    say(frame);
                    ++count;
                }
                if (!found && code != COLO_E_LAPPED) refuse(found.why());
            } else {
                const auto before = reader_.position();
                auto found = reader_.next_batch(static_cast<std::uint32_t>(left < 64 ? left : 64), say);
                code = found.code();
                if (!found && code != COLO_E_LAPPED) refuse(found.why());
                if (found) count += *found;
                is_there = found && reader_.position() != before;
            }
            if (code == COLO_E_LAPPED) {
                const auto gap = reader_.gap();
                std::cout << "gap " << gap.from << ' ' << gap.resumed_at << '\n';
            } else if (!is_there) {
                if (clock_type::now() >= until) break;
                std::this_thread::yield();
            }
        }
        must(reader_.release());
        return std::to_string(count) + " " + std::to_string(reader_.position());
    }

    std::string interest() {
        std::vector<std::uint32_t> topics;
        auto text = word();
        if (text == "all") {
            must(journal_.interest_in_all(seat_));
        } else {
            for (; !text.empty(); text = word()) topics.push_back(static_cast<std::uint32_t>(number(text)));
            must(journal_.interest(seat_, topics));
        }
        must(registry_.announce());
        return "";
    }

    std::string park() {
        static const char *const ends[] = {"news", "woken", "timeout"};
        return ends[static_cast<int>(take(colo::park(registry_, seat_, reader_, std::chrono::milliseconds(next_number()))))];
    }

    std::istringstream words_;
    colo::registry registry_;
    colo::journal journal_;
    colo::writer writer_;
    colo::reader reader_;
    std::uint32_t seat_ = 0;
    std::uint64_t capacity_ = 0, epoch_ = 0;
};

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    auto all = std::make_unique<driver>();
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "quit") {
            all.reset();
            std::cout << "ok" << std::endl;
            return 0;
        }
        try {
            const auto words = all->command(line);
            std::cout << "ok" << (words.empty() ? "" : " ") << words << std::endl;
        } catch (const refused &why) {
            std::cout << "error " << why.code << ' ' << why.text << std::endl;
        }
    }
    return 0;
}

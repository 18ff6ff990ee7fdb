// Reads, writes and sleeps as it is told on its standard input, and says how long it took: bindings/README.md has the protocol.
#include <colo.hpp>

#include <chrono>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// Longest that a sleeper waits for a message.
constexpr auto patience = std::chrono::seconds(20);
constexpr auto safety_timeout = std::chrono::milliseconds(100);

/// CLOCK_MONOTONIC, which is the steady clock of Linux.
std::uint64_t now_ns() { return static_cast<std::uint64_t>(steady_clock::now().time_since_epoch() / nanoseconds(1)); }

std::uint64_t first_word(const colo::frame &frame) {
    std::uint64_t word;
    std::memcpy(&word, frame.payload, sizeof word);
    return word;
}

std::string failed() { return std::string("error ") + colo_error(); }

std::string read(std::istream &words, bool in_batches) {
    std::string folder, name;
    std::uint64_t rounds = 0, frames = 0, sum = 0, time = 0;
    words >> folder >> name >> rounds;
    auto journal = colo::journal::open(folder, name);
    if (!journal) return failed();
    const auto first = journal->look().first;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto reader = journal->observe(first);
        if (!reader) return failed();
        const auto begin = now_ns();
        if (in_batches) {
            const auto each = [&](const colo::frame &frame) {
                sum += first_word(frame);
                ++frames;
            };
            for (auto count = reader->next_batch(64, each); count && *count > 0;) count = reader->next_batch(64, each);
        } else {
            colo::frame frame;
            while (reader->next_code(frame) == 1) {
                sum += first_word(frame);
                ++frames;
            }
        }
        time += now_ns() - begin;
    }
    std::ostringstream answer;
    answer << "ok " << frames << ' ' << time << ' ' << sum << " -";
    return answer.str();
}

std::string write(std::istream &words) {
    std::string folder, name, path;
    std::uint64_t count = 0, bytes = 0;
    words >> folder >> name >> path >> count >> bytes;
    auto journal = colo::journal::open(folder, name);
    if (!journal) return failed();
    auto registry = colo::registry::open(path);
    if (!registry) return failed();
    auto writer = journal->write(0, &*registry);
    if (!writer) return failed();
    const std::vector<std::uint8_t> payload(bytes, 7);
    const auto begin = now_ns();
    for (std::uint64_t i = 0; i < count; ++i)
        if (!writer->write(1, 0, payload.data(), payload.size())) return failed();
    std::ostringstream answer;
    answer << "ok " << count << ' ' << now_ns() - begin << " -";
    return answer.str();
}

std::string wake(std::istream &words) {
    std::string folder, name, path;
    std::uint32_t seat = 0;
    std::uint64_t count = 0;
    words >> folder >> name >> path >> seat >> count;
    auto journal = colo::journal::open(folder, name);
    if (!journal) return failed();
    auto registry = colo::registry::open(path);
    if (!registry) return failed();
    auto reader = journal->loose(seat, journal->look().head);
    if (!reader || !journal->interest_in_all(seat) || colo_announce(registry->get()) < 0) return failed();
    std::cout << "ready" << std::endl;
    std::vector<std::uint64_t> times;
    times.reserve(count);
    colo::frame frame;
    auto last = steady_clock::now();
    while (times.size() < count) {
        const int code = reader->next_code(frame);
        if (code == 1) {
            times.push_back(now_ns() - first_word(frame));
            last = steady_clock::now();
        } else if (code < 0) {
            return failed();
        } else if (steady_clock::now() - last > patience) {
            return "error no message came";
        } else if (!colo::park(*registry, seat, *reader, safety_timeout)) {
            return failed();
        }
    }
    if (!journal->interest(seat, {})) return failed();
    std::ostringstream answer;
    answer << "ok";
    for (const auto time : times) answer << ' ' << time;
    return answer.str();
}

std::string answer(const std::string &command, std::istream &words) {
    if (command == "hello") return "ok cpp 1 read batch write wake";
    if (command == "read" || command == "batch") return read(words, command == "batch");
    if (command == "write") return write(words);
    if (command == "wake") return wake(words);
    return "error there is no command `" + command + "`";
}

} // namespace

int main() {
    std::string line, command;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        words >> command;
        if (command == "quit") break;
        std::cout << answer(command, words) << std::endl;
    }
}

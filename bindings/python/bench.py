"""Reads, writes and sleeps as it is told on its standard input, and says how long it took: bindings/README.md has the protocol."""

import sys
import time
from collections.abc import Callable

from colo._colo import ColoError, Journal, Reader, Registry, count_allocations

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

PATIENCE_NS = 20_000_000_000
"""Longest that a sleeper waits for a message."""
SAFETY_TIMEOUT_NS = 100_000_000
MASK = (1 << 64) - 1


def read_one_by_one(reader: Reader) -> tuple[int, int]:
    frames = total = 0
    following = reader.next
    while (frame := following()) is not None:
        total += frame.number()
        frames += 1
    return frames, total


def read_in_batches(reader: Reader) -> tuple[int, int]:
    frames = total = 0
    words = numpy.dtype({"names": ["word"], "formats": ["<u8"], "offsets": [0], "itemsize": 128})
    following = reader.array
    while (array := following(words, 64)) is not None:
        total += int(array["word"].sum())
        frames += len(array)
    return frames, total


def read(words: list[str], all_of_it: Callable[[Reader], tuple[int, int]]) -> str:
    journal = Journal(words[0], words[1])
    rounds = int(words[2])
    frames = total = spent = 0
    for _ in range(rounds):
        reader = journal.loose(journal.first)
        begin = time.perf_counter_ns()
        found, sums = all_of_it(reader)
        spent += time.perf_counter_ns() - begin
        frames += found
        total += sums
    reader = journal.loose(journal.first)
    # In a round of its own: counting takes time.
    counted = count_allocations(lambda: all_of_it(reader))
    allocated = "-" if counted is None else str(counted[1] * rounds)
    return f"{frames} {spent} {total & MASK} {allocated}"


def write(words: list[str]) -> str:
    journal, registry, count = Journal(words[0], words[1]), Registry(words[2]), int(words[3])
    payload = b"\7" * int(words[4])
    writer = journal.writer(0, registry)
    begin = time.perf_counter_ns()
    for _ in range(count):
        writer.write(1, 0, payload)
    return f"{count} {time.perf_counter_ns() - begin} -"


def wake(words: list[str]) -> str:
    journal, registry = Journal(words[0], words[1]), Registry(words[2])
    seat, count = int(words[3]), int(words[4])
    reader = journal.loose(journal.head, seat)
    journal.interest(seat, None)
    registry.announce()
    print("ready", flush=True)
    times: list[int] = []
    last = time.monotonic_ns()
    while len(times) < count:
        frame = reader.next()
        if frame is not None:
            last = time.monotonic_ns()
            times.append(last - frame.number())
        elif time.monotonic_ns() - last > PATIENCE_NS:
            raise ColoError("no message came")
        else:
            reader.park(registry, SAFETY_TIMEOUT_NS)
    journal.interest(seat, [])
    return " ".join(map(str, times))


def answer(words: list[str]) -> str:
    match words:
        case ["hello"]:
            return "python 1 read write wake" + ("" if numpy is None else " batch")
        case ["read", *rest]:
            return read(rest, read_one_by_one)
        case ["batch", *rest]:
            return read(rest, read_in_batches)
        case ["write", *rest]:
            return write(rest)
        case ["wake", *rest]:
            return wake(rest)
    raise ColoError(f"there is no command `{words[0]}`")


def main() -> None:
    for line in sys.stdin:
        words = line.split()
        if not words or words[0] == "quit":
            return
        try:
            said = "ok " + answer(words)
        except (ColoError, ValueError, IndexError) as error:
            said = "error " + str(error).replace("\n", " ")
        print(said, flush=True)


main()

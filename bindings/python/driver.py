"""The driver in Python: does with a journal what it is told on its standard input. bindings/conformance/README.md has the protocol."""

import os
import signal
import struct
import sys
import time
from collections.abc import Callable

from colo import journals
from colo._colo import ColoError, Journal, Lapped, Reader, Registry, Writer

MASK = (1 << 64) - 1


class Usage(Exception):
    """An unknown command, or one at the wrong time."""


def checksum(data: bytes) -> int:
    """FNV-1a of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def content(seed: int, length: int) -> bytes:
    return bytes((seed * 167 + i * 31 + (i >> 8) * 13) & 255 for i in range(length))


def forged(position: int, capacity: int, length: int) -> bytes:
    """What tries to look like frames of the next lap."""
    first = position + journals.FRAME_PAYLOAD
    words = b"".join(struct.pack("<Q", (first + 8 * word + capacity) & MASK) for word in range(length // 8))
    return words + bytes(length % 8)


def frame_bytes(length: int) -> int:
    return (journals.FRAME_PAYLOAD + length + 63) // 64 * 64


def to_end(ending: str) -> None:
    sys.stdout.write(ending.rstrip() + "\n")
    sys.stdout.flush()


class Request:
    """What `write`, `batch`, `records` and `half` have in common."""

    def __init__(self, words: list[str]) -> None:
        self.id, self.topic, self.length = int(words[0]), int(words[1]), int(words[2])
        self.seed = None if words[3] == "forged" else int(words[3])
        self.count = int(words[4]) if len(words) > 4 else 1
        self.patience = int(words[5]) / 1000 if len(words) > 5 else 0.0

    def payload(self, index: int, position: int, capacity: int) -> bytes:
        if self.seed is None:
            return forged(position, capacity, self.length)
        return content(self.seed + index, self.length)


class Driver:
    def __init__(self) -> None:
        self.said: list[str] = []
        self.registry: Registry | None = None
        self.journal_: Journal | None = None
        self.writer_: Writer | None = None
        self.reader_: Reader | None = None
        self.seat = 0

    def journal(self) -> Journal:
        if self.journal_ is None:
            raise Usage("no journal is open")
        return self.journal_

    def writer(self) -> Writer:
        if self.writer_ is None:
            raise Usage("this driver does not write")
        return self.writer_

    def reader(self) -> Reader:
        if self.reader_ is None:
            raise Usage("this driver does not read")
        return self.reader_

    def say_frame(
        self, position: int, id: int, topic: int, flags: int, at: int, epoch: int, payload: bytes, records: list[tuple[int, bytes]]
    ) -> None:
        self.said.append(f"frame {position} {id} {topic} {flags} {at} {epoch} {len(payload)} {checksum(payload):016x}")
        for place, record in records:
            self.said.append(f"record {place} {len(record)} {checksum(record):016x}")

    def wrote(self, request: Request, position: int, at: int, payload: bytes) -> None:
        self.say_frame(position, request.id, request.topic, 0, at, self.writer().epoch & 0xFFFFFFFF, payload, [])

    def do_hello(self, words: list[str]) -> str:
        return "python 1 write batch records skip half loose gate keep park oldest"

    def do_registry(self, words: list[str]) -> str:
        self.registry = Registry(words[0])
        return ""

    def do_open(self, words: list[str]) -> str:
        folder, name = words
        self.journal_ = Journal(folder, name)
        with open(os.path.join(folder, name + ".ctl"), "rb") as control:
            control.seek(journals.CONTROL_IDENTITY)
            identity = int.from_bytes(control.read(8), "little")
        return f"{identity} {self.journal_.head}"

    def do_state(self, words: list[str]) -> str:
        epoch, writer, head = self.journal().state()
        return f"{epoch} {writer} {head}"

    def do_writer(self, words: list[str]) -> str:
        self.writer_ = self.journal().writer(int(words[0]), self.registry)
        return f"{self.writer_.epoch} {self.writer_.position}"

    def do_write(self, words: list[str]) -> str:
        request, writer, capacity = Request(words), self.writer(), self.journal().capacity
        until = time.monotonic() + request.patience
        for index in range(request.count):
            payload = request.payload(index, writer.position, capacity)
            while True:
                try:
                    position, at = writer.write(request.id, request.topic, payload)
                    break
                except ColoError as error:
                    if error.code != "full" or time.monotonic() >= until:
                        raise
                    time.sleep(0)
            self.wrote(request, position, at, payload)
        return f"{request.count} {writer.position}"

    def prepared(self, request: Request) -> list[tuple[int, bytes]]:
        """Positions and payloads of a batch."""
        position, frames = self.writer().position, []
        for index in range(request.count):
            payload = request.payload(index, position, self.journal().capacity)
            frames.append((position, payload))
            position += frame_bytes(len(payload))
        return frames

    def do_batch(self, words: list[str]) -> str:
        request = Request(words)
        frames = self.prepared(request)
        at = self.writer().batch([(request.id, request.topic, payload) for _, payload in frames])
        for position, payload in frames:
            self.wrote(request, position, at, payload)
        return f"{request.count} {self.writer().position}"

    def do_records(self, words: list[str]) -> str:
        request, writer = Request(words), self.writer()
        records = [content((request.seed or 0) + index, request.length) for index in range(request.count)]
        position, at = writer.records(request.id, request.topic, request.length, records)
        places, place = [], position + journals.FRAME_PAYLOAD
        for record in records:
            places.append((place, record))
            place += request.length
        flags = request.length
        self.say_frame(position, request.id, request.topic, flags, at, writer.epoch & 0xFFFFFFFF, b"".join(records), places)
        return f"1 {writer.position}"

    def do_skip(self, words: list[str]) -> str:
        return str(self.writer().skip(int(words[0])))

    def do_half(self, words: list[str]) -> str:
        request, writer = Request(words[1:]), self.writer()
        position = writer.position
        frames = [(request.id, request.topic, payload) for _, payload in self.prepared(request)]
        writer.begin(frames, words[0] == "batch")
        to_end(f"ok {position}")
        for line in sys.stdin:
            if line == "kill\n":
                break
            to_end("error usage a frame is begun: only `kill` is heard")
        return self.do_kill([])

    def do_loose(self, words: list[str]) -> str:
        journal = self.journal()
        starts: dict[str, Callable[[], int]] = {
            "head": lambda: journal.head,
            "first": lambda: journal.first,
            "oldest": journal.oldest,
        }
        start = starts.get(words[1], lambda: int(words[1]))()
        seat = None if words[0] == "-" else int(words[0])
        self.reader_ = journal.loose(start, seat)
        self.seat = self.seat if seat is None else seat
        return str(self.reader_.position)

    def do_gate(self, words: list[str]) -> str:
        self.seat = int(words[0])
        self.reader_ = self.journal().gated(self.seat)
        return str(self.reader_.position)

    def do_next(self, words: list[str]) -> str:
        reader, count, done = self.reader(), int(words[0]), 0
        until = time.monotonic() + (int(words[1]) / 1000 if len(words) > 1 else 0)
        try:
            while done < count:
                try:
                    frame = reader.read()
                except Lapped as gap:
                    self.said.append(f"gap {gap.lost_from} {gap.resumed_at}")
                    continue
                if frame is not None:
                    self.say_frame(*frame)
                    done += 1
                elif time.monotonic() < until:
                    time.sleep(0)
                else:
                    break
        finally:
            reader.publish()
        return f"{done} {reader.position}"

    def do_keep(self, words: list[str]) -> str:
        self.reader().keep(int(words[0]))
        return ""

    def do_interest(self, words: list[str]) -> str:
        if self.registry is None:
            raise Usage("no registry is open")
        self.journal().interest(self.seat, None if words == ["all"] else [int(word) for word in words])
        self.registry.announce()
        return ""

    def do_park(self, words: list[str]) -> str:
        if self.registry is None:
            raise Usage("no registry is open")
        return self.reader().park(self.registry, int(words[0]) * 1_000_000)

    def do_kill(self, words: list[str]) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    def command(self, line: str) -> str:
        words = line.split(" ")
        does = getattr(self, "do_" + words[0], None)
        try:
            if does is None:
                raise Usage(f"there is no command `{words[0]}`")
            return f"ok {does(words[1:])}"
        except ColoError as error:
            return f"error {error.code} " + str(error).replace("\n", " ")
        except (Usage, ValueError, IndexError, OverflowError) as error:
            return f"error usage {error}"


def main() -> None:
    driver = Driver()
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line == "quit":
            driver.reader_ = driver.writer_ = driver.journal_ = None
            to_end("ok")
            return
        ending = driver.command(line)
        if driver.said:
            sys.stdout.write("\n".join(driver.said) + "\n")
            driver.said.clear()
        to_end(ending)


main()

#!/usr/bin/env python3
"""Reads a colo journal. Standard library only; written from docs/journal-format.md alone.

    reader.py NAME.ctl NAME.ring                    follow from the head on, loosely
    reader.py NAME.ctl NAME.ring --start oldest     from the oldest frame that is left
    reader.py NAME.ctl NAME.ring --seat 5           gated: in a seat that was admitted, nothing is lost
        --frames N      end after N frames
        --until P       end at position P
        --stop-at-end   end where there is nothing more, instead of waiting

One JSON object a line: a frame, or a gap ("lapped"), and at the end a summary.

Python has no memory fences. On x86-64 loads stay in order by themselves; for other machines this reader takes and gives
back a lock where the format asks for a fence, which has that effect wherever CPython runs.
"""

import argparse
import fcntl
import json
import mmap
import os
import struct
import sys
import threading
import time

VERSION = 4
LAYOUT_HASH = 0xD45ADA3BF1E1CC83

LINE = 64
HEADER = 32
# Of the flags: the frame is to be passed over.
VOID = 1 << 15
LAST_POSITION = 1 << 63

# Offsets in the control file, in words of eight bytes.
MAGIC, CONTROL_VERSION, HASH, ID, CAPACITY, TABLES, CREATED, MAX_PAYLOAD, NAME = range(9)
WRITER, WRITER_START, EPOCH, WRITER_STATE = 16, 17, 18, 19
HEAD, FRAMES, LAST_TIME = 32, 33, 34
INTENT = 40
FIRST, INCARNATION, IDENTITY = 24, 25, 26
GATED, LOOSE, MARKS, CURSORS = 64, 80, 128, 192

F_OFD_SETLK = 37


class Refused(Exception):
    """The files are not ones that this reader reads."""


class Damaged(Exception):
    """The journal holds what no writer writes."""


class Lapped(Exception):
    """The writer came round. `start` is the first position lost, `resumed_at` where reading goes on."""

    def __init__(self, start, resumed_at):
        super().__init__(f"{resumed_at - start} bytes from {start} are lost")
        self.start, self.resumed_at = start, resumed_at


_fence = threading.Lock()


def fence():
    with _fence:
        pass


def words_of(path, writable):
    """The file as words. One element is loaded and stored whole."""
    with open(path, "r+b" if writable else "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0 or size % 8:
            raise Refused(f"{path} has {size} bytes")
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        memory = mmap.mmap(file.fileno(), size, access=access)
    return memory, memoryview(memory).cast("Q")


class Journal:
    """A journal's header, checked, and its words."""

    def __init__(self, control_path, ring_path, writable=False):
        if sys.byteorder != "little":
            raise Refused("this reader runs on little-endian machines")
        self.control_path = control_path
        self.control_memory, self.control = words_of(control_path, writable)
        control = self.control
        if len(control) < CURSORS:
            raise Refused(f"{control_path} is too short for a header")
        if self.control_memory[:8] != b"COLOJRNL":
            raise Refused(f"{control_path} is no colo journal: it starts with {self.control_memory[:8]!r}")
        version = control[CONTROL_VERSION] & 0xFFFFFFFF
        if version != VERSION or control[HASH] != LAYOUT_HASH:
            raise Refused(
                f"{control_path} has format {version}, layout {control[HASH]:#018x}; "
                f"this reader reads format {VERSION}, layout {LAYOUT_HASH:#018x}"
            )
        self.capacity = control[CAPACITY]
        if self.capacity & (self.capacity - 1) or not 1 << 16 <= self.capacity <= 1 << 36:
            raise Refused(f"{control_path}: capacity {self.capacity}")
        self.seats, self.topics = control[TABLES] & 0xFFFFFFFF, control[TABLES] >> 32
        if self.seats % 64 or not 64 <= self.seats <= 1024 or not 1 <= self.topics <= 4096:
            raise Refused(f"{control_path}: {self.seats} seats, {self.topics} topics")
        end = CURSORS * 8 + 64 * self.seats + self.topics * self.seats // 8
        if len(control) * 8 != -(-end // 4096) * 4096:
            raise Refused(f"{control_path} has {len(control) * 8} bytes, its tables end at {end}")
        self.max_payload, self.first = control[MAX_PAYLOAD], control[FIRST]
        if self.max_payload > min(self.capacity // 8, 1 << 20) - HEADER:
            raise Refused(f"{control_path}: largest payload {self.max_payload}")
        if self.first % LINE or not self.capacity <= self.first < LAST_POSITION:
            raise Refused(f"{control_path}: first position {self.first}")
        self.name = bytes(self.control_memory[64:128]).split(b"\0")[0].decode()
        self.memory, self.ring = words_of(ring_path, False)
        if len(self.memory) != self.capacity:
            raise Refused(f"{ring_path} has {len(self.memory)} bytes, the control file says {self.capacity}")
        # The ring was opened before this look: it is ours if the control file still has its name.
        with open(control_path, "rb") as file:
            file.seek(IDENTITY * 8)
            if struct.unpack("<Q", file.read(8))[0] != control[IDENTITY]:
                raise Refused(f"{control_path} was made anew while it was opened")

    def head(self):
        """End of the committed frames, checked against what the writer declared."""
        intent = self.control[INTENT]
        fence()
        head = self.control[HEAD]
        if head % LINE or not self.first <= head < LAST_POSITION:
            raise Damaged(f"head {head} is no possible position")
        if intent > head + self.capacity // 4 + LINE:
            raise Damaged(f"intent {intent} is too far ahead of head {head}")
        fence()
        if (intent := self.control[INTENT]) < head:
            raise Damaged(f"intent {intent} lies before head {head}")
        return head

    def commit(self, position):
        value = self.ring[position % self.capacity // 8]
        fence()
        return value

    def header(self, position):
        at = position % self.capacity
        return struct.unpack_from("<IHHQII", self.memory, at + 8)

    def payload(self, position, length):
        at = (position + HEADER) % self.capacity
        first = min(length, self.capacity - at)
        return self.memory[at : at + first] + self.memory[: length - first]

    def oldest(self):
        """Position of the oldest frame that the writer has marked."""
        head = self.head()
        marks = sorted(self.control[MARKS : MARKS + 64])
        fence()
        start = max(self.control[INTENT] - self.capacity, self.first)
        for mark in marks:
            if start <= mark < head and mark % LINE == 0 and self.commit(mark) == mark:
                return mark
        return head


def frame_bytes(length):
    return -(-(HEADER + length) // LINE) * LINE


class LooseReader:
    """Never holds the writer up; raises Lapped when it was overtaken, and can then be asked for more."""

    def __init__(self, journal, position):
        self.journal, self.position = journal, position

    def lapped(self):
        return self.journal.control[INTENT] > self.position + self.journal.capacity

    def resume(self):
        start, resumed_at = self.position, self.journal.head()
        if resumed_at <= start:
            raise Damaged(f"the writer's intent covers position {start}, its head is {resumed_at}")
        self.position = resumed_at
        raise Lapped(start, resumed_at)

    def read(self):
        """The next frame, or None."""
        while (frame := self.next()) == VOID:
            pass
        return frame

    def next(self):
        """The next frame, VOID for one to be passed over, or None."""
        journal, position = self.journal, self.position
        commit = journal.commit(position)
        if commit != position:
            if self.lapped():
                self.resume()
            if commit == 0:
                return None
            raise Damaged(f"commit word {commit} at position {position}")
        length, message, flags, when, topic, epoch = journal.header(position)
        if length > journal.max_payload:
            fence()
            if self.lapped():
                self.resume()
            raise Damaged(f"{length} bytes of payload at position {position}")
        payload = journal.payload(position, length)
        fence()
        if self.lapped():
            self.resume()
        self.position += frame_bytes(length)
        return VOID if flags & VOID else (position, message, topic, when, epoch, payload)


class GatedReader:
    """Gets every frame from a seat's cursor on. The cursor must have been given to the seat before."""

    def __init__(self, journal, seat):
        if not 0 <= seat < journal.seats:
            raise Refused(f"there are {journal.seats} seats")
        self.journal, self.cursor = journal, CURSORS + seat * 8
        lock_path = journal.control_path.removesuffix("ctl") + "lock"
        self.lock = open(lock_path, "r+b")
        if self.lock.read(16) != struct.pack("<8sQ", b"COLOLOCK", journal.control[IDENTITY]):
            raise Refused(f"{lock_path} belongs to another journal")
        # struct flock: type, whence, start, length, pid.
        request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 128 + seat, 1, 0)
        try:
            fcntl.fcntl(self.lock, F_OFD_SETLK, request)
        except (BlockingIOError, PermissionError):
            raise Refused(f"seat {seat} is being read already") from None
        if not journal.control[GATED + seat // 64] >> seat % 64 & 1:
            raise Refused(f"seat {seat} was not admitted")
        self.position = journal.control[self.cursor]
        fence()
        intent = journal.control[INTENT]
        if self.position % LINE or not journal.first <= self.position <= intent:
            raise Damaged(f"cursor {self.position} of seat {seat}")
        if intent > self.position + journal.capacity:
            raise Refused(f"seat {seat} was not admitted: its last reader died while it joined")
        self.frames = journal.control[self.cursor + 3]

    def read(self):
        """The next frame, or None. The one before is finished with this."""
        while (frame := self.next()) == VOID:
            pass
        return frame

    def next(self):
        """The next frame, VOID for one to be passed over, or None."""
        journal, position = self.journal, self.position
        journal.control[self.cursor + 3] = self.frames
        fence()
        journal.control[self.cursor] = position
        commit = journal.commit(position)
        if commit == 0:
            return None
        length, message, flags, when, topic, epoch = journal.header(position)
        if commit != position or length > journal.max_payload:
            raise Damaged(f"commit word {commit}, length {length} at position {position}")
        payload = journal.payload(position, length)
        self.position += frame_bytes(length)
        if flags & VOID:
            return VOID
        self.frames += 1
        return position, message, topic, when, epoch, payload


def start_of(journal, word):
    if word == "head":
        return journal.head()
    if word == "oldest":
        return journal.oldest()
    if word == "first":
        return journal.first
    return int(word)


def main():
    parser = argparse.ArgumentParser(description="Reads a colo journal.")
    parser.add_argument("control")
    parser.add_argument("ring")
    parser.add_argument("--start", default="head", help="head, oldest, first, or a position")
    parser.add_argument("--seat", type=int, help="read gated in this seat")
    parser.add_argument("--frames", type=int)
    parser.add_argument("--until", type=int)
    parser.add_argument("--stop-at-end", action="store_true")
    arguments = parser.parse_args()
    try:
        journal = Journal(arguments.control, arguments.ring, writable=arguments.seat is not None)
        if arguments.seat is None:
            reader = LooseReader(journal, start_of(journal, arguments.start))
        else:
            reader = GatedReader(journal, arguments.seat)
        frames, lost, gaps = 0, 0, 0
        print(json.dumps({"journal": journal.name, "position": reader.position}), flush=True)
        while arguments.frames is None or frames < arguments.frames:
            if arguments.until is not None and reader.position >= arguments.until:
                break
            try:
                frame = reader.read()
            except Lapped as gap:
                lost, gaps = lost + gap.resumed_at - gap.start, gaps + 1
                print(json.dumps({"lapped": gap.start, "resumed_at": gap.resumed_at}))
                continue
            if frame is None:
                if arguments.stop_at_end:
                    break
                sys.stdout.flush()
                time.sleep(0.0002)
                continue
            position, message, topic, when, epoch, payload = frame
            frames += 1
            print(
                json.dumps(
                    {
                        "position": position,
                        "id": message,
                        "topic": topic,
                        "time": when,
                        "epoch": epoch,
                        "payload": payload.hex(),
                    }
                )
            )
        if arguments.seat is not None:
            journal.control[reader.cursor + 3] = reader.frames
            journal.control[reader.cursor] = reader.position
        print(json.dumps({"frames": frames, "lost": lost, "gaps": gaps, "position": reader.position}))
    except (Refused, Damaged, OSError) as error:
        print(f"reader.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

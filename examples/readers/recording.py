#!/usr/bin/env python3
"""Reads a colo recording. Standard library only; written from docs/recording-format.md alone.

    recording.py FOLDER                      frames of all journals, then a summary
    recording.py FOLDER --journal NAME       of one journal
        --from P  --to P                     only positions from P, up to P
        --since NS                           only frames of that time or later, found by the indexes
        --summary                            no frames

One JSON object a line: frames, then places that are missing or damaged, and at the end a summary.

What it lacks: the chain (XXH3 is not in the standard library); the checksums and numbers of blocks are checked. Compressed
segments are read through the program `zstd`; without it they are reported as unreadable.
"""

import argparse
import json
import os
import struct
import subprocess
import sys

VERSION = 1
JOURNAL_FORMAT = 4
LINE = 64
HEADER = 32
VOID = 1 << 15
MOST_PAYLOAD = 1 << 30
DESCRIPTION, FRAMES, CURSORS, GAP, INDEX, END = range(1, 7)

HEAD = struct.Struct("<8sIIQQQQ12xI")
BLOCK = struct.Struct("<4sIBBHIQQQQIIQ")
ROW = struct.Struct("<HHIQQQQ")
FRAME = struct.Struct("<QIHHQII")


class Refused(Exception):
    """This is no recording that this reader reads."""


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def content(path):
    """The bytes of a segment."""
    if not path.endswith(".zst"):
        with open(path, "rb") as file:
            return file.read()
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 9 or data[-4:] != struct.pack("<I", 0x8F92EAB1):
        raise Refused("no seek table at its end")
    try:
        result = subprocess.run(["zstd", "-d", "-c", path], capture_output=True, check=False)
    except FileNotFoundError:
        raise Refused("compressed, and the program zstd is not there") from None
    if result.returncode:
        raise Refused(f"zstd: {result.stderr.decode(errors='replace').strip()}")
    return result.stdout


class Block:
    """A whole block at an offset."""

    def __init__(self, data, offset, segment):
        head = data[offset : offset + LINE]
        if len(head) < LINE:
            raise ValueError
        (magic, crc, self.kind, flags, self.journal, length, self.number, self.cut) = BLOCK.unpack(head)[:8]
        self.position, self.time, self.frames, number, self.chain = BLOCK.unpack(head)[8:]
        if magic != b"CBLK" or length > MOST_PAYLOAD or number != segment:
            raise ValueError
        self.payload = data[offset + LINE : offset + LINE + length]
        if len(self.payload) < length or crc32c(head[8:] + self.payload) != crc:
            raise ValueError
        self.offset, self.closes_cut = offset, bool(flags & 1)
        self.end = offset + LINE + -(-length // LINE) * LINE
        if any(data[offset + LINE + length : self.end]):
            raise ValueError


class Segment:
    """A segment's head and its bytes."""

    def __init__(self, path):
        self.path, self.data = path, content(path)
        if len(self.data) < LINE:
            raise Refused("shorter than a head")
        magic, version, self.number, self.recording, self.first_block, self.chain, self.created, crc = HEAD.unpack(
            self.data[:LINE]
        )
        if magic != b"COLOSEGM":
            raise Refused("no segment")
        if version != VERSION:
            raise Refused(f"version {version}; this reader reads version {VERSION}")
        if crc != crc32c(self.data[: LINE - 4]):
            raise Refused("the checksum of its head is wrong")
        self.blocks_end = 1 << 64
        self.blocks, self.damage, self.is_closed = [], [], False

    def scan(self):
        """Finds all whole blocks below `blocks_end`, and what is damaged."""
        self.blocks, self.damage, self.is_closed = [], [], False
        offset, expected, bad, held = LINE, self.first_block, None, []
        while offset < len(self.data):
            try:
                block = Block(self.data, offset, self.number)
            except ValueError:
                bad = offset if bad is None else bad
                offset += LINE
                continue
            is_table = block.kind in (INDEX, END)
            if block.number >= self.blocks_end and not is_table:
                break
            if bad is not None and block.cut <= expected:
                # Of the same cut: it is not yet known whether that was ever finished.
                held.append(block)
                offset = block.end
                continue
            if bad is not None or block.number != expected:
                at = offset if bad is None else bad
                lost = block.number - expected - len(held)
                self.damage.append(
                    {"segment": self.number, "offset": at, "block": expected, "blocks": lost}
                )
                self.blocks.extend(held)
                bad, held = None, []
            expected = block.number + 1
            offset = block.end
            if block.kind == END:
                self.is_closed = True
                break
            if not is_table:
                self.blocks.append(block)
        if self.blocks_end < 1 << 64:
            # The next segment says that they count.
            self.blocks.extend(held)

    def next_block(self):
        return self.blocks[-1].number + 1 if self.blocks else self.first_block

    def index(self):
        """The rows of the index, found from the end; None without one."""
        try:
            end = Block(self.data, len(self.data) - 2 * LINE, self.number)
            if end.kind != END:
                return None
            block = Block(self.data, struct.unpack("<Q", end.payload)[0], self.number)
        except (ValueError, struct.error):
            return None
        return [ROW.unpack_from(block.payload, at) for at in range(0, len(block.payload) - ROW.size + 1, ROW.size)]


def newest(folder):
    """The segment that was begun last; 0 where nothing says so."""
    try:
        with open(os.path.join(folder, "newest"), "rb") as file:
            return int(file.read())
    except (FileNotFoundError, ValueError):
        return 0


class Recording:
    """The segments of a folder."""

    def __init__(self, folder):
        self.removed, self.unreadable, self.segments = {}, [], []
        try:
            with open(os.path.join(folder, "removed.jsonl"), "rb") as file:
                for line in file.read().split(b"\n"):
                    try:
                        entry = json.loads(line)
                        self.removed[entry["segment"]] = entry
                    except (ValueError, KeyError, TypeError):
                        pass
        except FileNotFoundError:
            pass
        self.newest = newest(folder)
        names = {}
        for name in sorted(os.listdir(folder)):
            stem, _, extension = name.partition(".")
            if stem.isdigit() and extension in ("seg", "seg.zst"):
                # The plain one sorts first.
                names.setdefault(int(stem), name)
        self.highest = max(names, default=0)
        for _, name in sorted(names.items()):
            try:
                self.segments.append(Segment(os.path.join(folder, name)))
            except Refused as why:
                self.unreadable.append({"file": name, "why": str(why)})
        if not self.segments:
            raise Refused(f"{folder}: no segment that can be read: {self.unreadable}")
        if len({segment.recording for segment in self.segments}) > 1:
            raise Refused(f"{folder}: segments of several recordings")
        self.bound()
        self.find_end()
        self.description = self.describe()
        if self.description["journal_format"] != JOURNAL_FORMAT:
            raise Refused(f"frames of journal format {self.description['journal_format']}")

    def bound(self):
        """Which blocks of each segment count."""
        for segment, after in zip(self.segments, self.segments[1:]):
            if after.number == segment.number + 1:
                segment.blocks_end = after.first_block
            elif segment.number + 1 in self.removed:
                segment.blocks_end = self.removed[segment.number + 1]["first_block"]
            else:
                segment.blocks_end = after.first_block
                segment.scan()
                closing = [block.number for block in segment.blocks if block.closes_cut]
                segment.blocks_end = closing[-1] + 1 if closing else segment.first_block
        for segment in self.segments:
            segment.scan()
            missing = segment.blocks_end - segment.next_block()
            if segment is not self.segments[-1] and missing > 0:
                segment.damage.append(
                    {"segment": segment.number, "offset": None, "block": segment.next_block(), "blocks": missing}
                )

    def find_end(self):
        """The end: behind the last whole cut."""
        self.end, self.time = self.segments[0].first_block, 0
        for segment in reversed(self.segments):
            closing = [block for block in segment.blocks if block.closes_cut]
            if closing:
                self.end, self.time = closing[-1].number + 1, closing[-1].time
                break
        self.unfinished = sum(block.number >= self.end for segment in self.segments for block in segment.blocks)

    def describe(self):
        for segment in self.segments:
            first = next(iter(segment.blocks), None)
            if first is not None and first.kind == DESCRIPTION:
                return json.loads(first.payload)
        raise Refused("no description")

    def missing(self):
        numbers = {segment.number for segment in self.segments}
        missing = [n for n in range(1, max(numbers)) if n not in numbers and n not in self.removed]
        return missing + ([self.newest] if self.lacks_end() else [])

    def lacks_end(self):
        """The segment that was begun last is not there, nor a later one, and nobody has removed it."""
        return self.newest > self.highest and self.newest not in self.removed

    def frames(self, number, start, since):
        """Frames of a journal, and places where some are missing."""
        position, gap = None, None
        for place, segment in enumerate(self.segments):
            after = self.segments[place + 1] if place + 1 < len(self.segments) else None
            if after is not None and after.created < since:
                continue
            offset = 0
            if since:
                # The last row before the time: what follows it may be of that time.
                before = [row for row in segment.index() or [] if row[0] == number and row[6] < since]
                offset = before[-1][3] if before else 0
            for block in segment.blocks:
                if block.journal != number or block.number >= self.end or block.offset < offset:
                    continue
                if block.kind == GAP:
                    gap = "the recorder was overtaken, or its disk took nothing"
                if block.kind != FRAMES or block.time < since or block.position + len(block.payload) <= start:
                    continue
                if position is not None and position < block.position:
                    why = gap or "damaged, or removed"
                    yield None, {"missing": position, "to": block.position, "why": why}
                gap, position = None, block.position + len(block.payload)
                yield from frames_of(block)


def frames_of(block):
    at = 0
    while at + HEADER <= len(block.payload):
        position, length, kind, flags, time, topic, epoch = FRAME.unpack_from(block.payload, at)
        payload = block.payload[at + HEADER : at + HEADER + length]
        at += -(-(HEADER + length) // LINE) * LINE
        if not flags & VOID:
            frame = {"position": position, "time": time, "id": kind, "topic": topic, "epoch": epoch}
            yield position, {**frame, "payload": payload.hex()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--journal")
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--to", type=int, default=1 << 64)
    parser.add_argument("--since", type=int, default=0)
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    try:
        recording = Recording(arguments.folder)
    except Refused as why:
        sys.exit(str(why))
    counts = {}
    for number, journal in enumerate(recording.description["journals"], 1):
        name = journal["name"]
        if arguments.journal not in (None, name):
            continue
        counts[name] = 0
        for position, found in recording.frames(number, arguments.start, arguments.since):
            if position is None:
                print(json.dumps({"journal": name, **found}))
                continue
            is_wanted = arguments.start <= position < arguments.to and found["time"] >= arguments.since
            counts[name] += is_wanted
            if is_wanted and not arguments.summary:
                print(json.dumps({"journal": name, **found}))
    for segment in recording.segments:
        for damage in segment.damage:
            print(json.dumps({"damage": damage}))
    summary = {
        "recording": f"{recording.segments[0].recording:016x}",
        "segments": [segment.number for segment in recording.segments],
        "closed": [segment.number for segment in recording.segments if segment.is_closed],
        "missing_segments": recording.missing(),
        "lacks_end": recording.lacks_end(),
        "removed_segments": sorted(recording.removed),
        "unreadable": recording.unreadable,
        "next_block": recording.end,
        "time": recording.time,
        "unfinished_blocks": recording.unfinished,
        "frames": counts,
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()

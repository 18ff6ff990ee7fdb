#!/usr/bin/env python3
"""Says what the payloads of frames are. Knows nothing but docs/messages.md: it reads the tables there.

    reader.py NAME.ctl NAME.ring --start oldest | messages.py docs/messages.md

Takes and gives one JSON object a line. A price or an amount of money is printed as a decimal number, "no price" as null,
an order's id as SEAT-EPOCH-SEQUENCE, a member of an enumeration by its name, flags by the names of those that are set. Fields that are always zero are left out.
"""

import json
import re
import struct
import sys

LETTERS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q"}
NO_PRICE = -(1 << 63)
SCALES = {"price": 1_000_000_000, "money": 1_000_000, "wide money": 1_000_000_000}


class Field:
    """A row of a table: where, how many, of what."""

    def __init__(self, offset, name, kind, unit):
        unit, self.are_bits = re.fullmatch(r"`?(.*?)`?( bits)?", unit).groups()
        self.offset, self.name, self.unit = int(offset), name, unit
        count, times, item = kind.partition(" × ")
        self.count, self.item = (int(count), item) if times else (1, kind)


class Document:
    """The tables of docs/messages.md."""

    def __init__(self, path):
        self.sizes, self.fields, self.names, self.members = {}, {}, {}, {}
        title = None
        with open(path, encoding="utf-8") as file:
            for line in file:
                heading = re.match(r"### (?:(\d+) )?(\w+)(?:, (\d+) bytes)?$", line)
                if heading:
                    number, title, size = heading.groups()
                    if number:
                        self.names[int(number)] = title
                    if size:
                        self.sizes[title] = int(size)
                    continue
                cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
                if title is None or not line.startswith("|") or not cells[0].isdigit():
                    continue
                if title in self.sizes:
                    self.fields.setdefault(title, []).append(Field(*cells[:4]))
                else:
                    self.members.setdefault(title, {})[int(cells[0])] = cells[1]

    def value(self, field, payload, offset):
        if field.item in self.fields:
            return self.read(field.item, payload, offset)
        if field.item == "i128":
            value = int.from_bytes(payload[offset : offset + 16], "little", signed=True)
        else:
            (value,) = struct.unpack_from("<" + LETTERS[field.item], payload, offset)
        if field.are_bits:
            return [name for bit, name in self.members[field.unit].items() if value & bit]
        if field.unit in self.members:
            if value not in self.members[field.unit]:
                raise ValueError(f"{value} is no {field.unit}")
            return self.members[field.unit][value]
        if field.unit == "order id":
            return f"{value >> 48}-{value >> 32 & 0xFFFF}-{value & 0xFFFFFFFF}"
        if field.unit == "price" and value == NO_PRICE:
            return None
        return value / SCALES[field.unit] if field.unit in SCALES else value

    def read(self, name, payload, start=0):
        """A message, or a part of one, as names and values."""
        values = {}
        for field in self.fields[name]:
            offset = start + field.offset
            if "reserved" in field.name:
                continue
            if field.unit == "text":
                size = int(field.item.split()[0])
                text = payload[offset : offset + size].split(b"\0")[0]
                values[field.name] = text.decode("utf-8", "replace")
            elif field.count == 1:
                values[field.name] = self.value(field, payload, offset)
            else:
                size = self.sizes.get(field.item) or struct.calcsize(LETTERS[field.item])
                values[field.name] = [self.value(field, payload, offset + n * size) for n in range(field.count)]
        return values

    def message(self, number, payload):
        name = self.names.get(number)
        if name is None:
            raise ValueError(f"no message has the number {number}")
        if len(payload) != self.sizes[name]:
            raise ValueError(f"a {name} has {self.sizes[name]} bytes, not {len(payload)}")
        return {"message": name, **self.read(name, payload)}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    document = Document(sys.argv[1])
    for line in sys.stdin:
        frame = json.loads(line)
        if "payload" in frame:
            payload = bytes.fromhex(frame.pop("payload"))
            try:
                frame.update(document.message(frame["id"], payload))
            except ValueError as error:
                frame["error"] = str(error)
        print(json.dumps(frame, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

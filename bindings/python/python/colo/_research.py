"""Journals of an instance, for research: whoever looks on takes no part."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from colo._colo import Frame, Journal, Lapped, Reader

if TYPE_CHECKING:
    import numpy

    Records = numpy.ndarray[Any, numpy.dtype[numpy.void]]


class Frames:
    """The frames of a journal, from the oldest that is left on. It reads loosely: the writer does not wait."""

    def __init__(self, journal: Journal, message: type | None, from_head: bool) -> None:
        self._journal = journal
        self._message = message
        self._reader: Reader = journal.loose(journal.head if from_head else journal.oldest())
        self._lost = 0

    @property
    def lost(self) -> int:
        """Bytes that the writer overwrote before they were read."""
        return self._lost + self._reader.lost

    @property
    def passed_over(self) -> int:
        """Frames of other messages."""
        return self._reader.passed_over

    def __iter__(self) -> Iterator[Frame]:
        """The frames up to the end of the journal, one by one and of all messages; numpy is not needed."""
        while True:
            try:
                frame = self._reader.next()
            except Lapped as gap:
                self._lost += gap.resumed_at - gap.lost_from
                continue
            if frame is None:
                return
            yield frame

    def batches(self, most: int = 4096, *, follow: bool = False, patience: float | None = None) -> Iterator[Records]:
        """Arrays of numpy's records, each of up to `most` messages: copies, to keep. The fields are those of the message, and
        `frame_position`, `frame_time`, `frame_topic`, `frame_epoch` of its frame. Ends where the journal does, or with `follow`
        never, or when nothing came for `patience` seconds."""
        idle_since = time.monotonic()
        while True:
            records: Records | None = self._reader.array(self._message, most)
            if records is not None:
                yield records
                idle_since = time.monotonic()
            elif not follow or (patience is not None and time.monotonic() - idle_since > patience):
                return
            else:
                time.sleep(0.001)


def open(journal: str, *, instance: str, message: type | None = None, from_head: bool = False) -> Frames:
    """Opens a journal of a running instance by its name: `colo.open("md.quotes", instance="demo").batches()`. `message` is the
    class of the messages to read; without it that of the first frame. `from_head`: only what comes from now on."""
    return Frames(Journal.of_instance(instance, journal), message, from_head)


def columns(records: Records) -> dict[str, Any]:
    """An array of records as flat columns by name, for `polars.DataFrame(colo.columns(array))` or `pyarrow.table(…)`: levels become
    `bid_price_0`, `bid_quantity_0`, …, wide money becomes its `_low` and `_high` half. Numbers are views of the array, texts are
    decoded, so they are copies."""
    found: dict[str, Any] = {}

    def add(name: str, values: Any) -> None:
        kind = values.dtype
        if kind.names is None:
            found[name] = values.astype("U") if kind.kind == "S" else values
            return
        for part in kind.names:
            inner = values[part]
            if inner.ndim == 1:
                add(f"{name}_{part}", inner)
            else:
                for level in range(inner.shape[1]):
                    add(f"{name.removesuffix('s')}_{part}_{level}", inner[:, level])

    assert records.dtype.names is not None, "an array of records, as `batches()` gives"
    for name in records.dtype.names:
        add(name, records[name])
    return found

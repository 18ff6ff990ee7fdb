#!/usr/bin/env python3
"""A service of a platform, in Python: gets a seat, reads its journals, sleeps while there is nothing, and leaves.

    [[service]]
    name = "counter"
    program = "examples/readers/seat.py"
    mode = "parked"
    reads = [{ journal = "md.quotes", kind = "gated" }]

Written from docs/registration.md and docs/journal-format.md alone, with the standard library. Master starts it and tells
it by its environment which node it is. It prints what it says to master and hears ("> ", "< "), and at the end what it
did. With `params = { frames = N }` it leaves after so many frames, else when it is asked to (SIGTERM).

Python has no atomic operations on shared memory and no memory fences: they come from libatomic (package libatomic1).
"""

import ctypes
import json
import mmap
import os
import platform
import re
import signal
import socket
import stat
import sys
import time

sys.dont_write_bytecode = True  # The sources may lie where nothing else belongs.

from reader import CURSORS, LAYOUT_HASH, VERSION, Damaged, GatedReader, Journal, Lapped, LooseReader, Refused

PROTOCOL = 2
ANSWER_WITHIN = 60.0

# Offsets in the registry, in words of eight bytes.
REGISTRY_VERSION, REGISTRY_HASH, SEATS = 1, 2, 3
CLOCK_OFFSET = 20
FENCES, NOTIFY, RECORDS, RECORD = 64, 66, 512, 128
# In a seat's record.
WAIT, STATE, EXIT, HEARTBEAT, CPU, COUNTERS = 0, 11, 13, 16, 17, 32
FRAMES_READ, PARKS, WAKES = 0, 5, 6

AWAKE, PARKED = 0, 1
RUNNING, STOPPING, STOPPED, DEAD = 3, 5, 6, 7

# Longest sleep, and time between two signs of life.
SLEEP = 0.1
BEAT = 0.01

FUTEX_WAIT = 0
MEMBARRIER_GLOBAL, MEMBARRIER_GLOBAL_EXPEDITED = 1, 2
# futex, membarrier
CALLS = {"x86_64": (202, 324), "aarch64": (98, 283)}
# Memory orders of libatomic.
ACQUIRE, SEQ_CST = 2, 5


class Kernel:
    """System calls and atomic operations that Python does not have."""

    def __init__(self):
        if platform.machine() not in CALLS:
            raise Refused(f"the numbers of the system calls of {platform.machine()} are not known here")
        self.futex, self.membarrier = CALLS[platform.machine()]
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        try:
            atomic = ctypes.CDLL("libatomic.so.1")
        except OSError as error:
            raise Refused(f"libatomic is needed (package libatomic1): {error}") from None
        self.thread_fence = atomic["atomic_thread_fence"]
        self.fetch_or, self.fetch_and = atomic["__atomic_fetch_or_8"], atomic["__atomic_fetch_and_8"]
        self.exchange = atomic["__atomic_exchange_8"]
        self.exchange.restype = ctypes.c_uint64

    def fence(self):
        self.thread_fence(SEQ_CST)

    def set_bits(self, memory, word, bits):
        self.fetch_or(at(memory, word), ctypes.c_uint64(bits), SEQ_CST)

    def clear_bits(self, memory, word, bits):
        self.fetch_and(at(memory, word), ctypes.c_uint64(~bits), SEQ_CST)

    def swap(self, memory, word, value):
        return self.exchange(at(memory, word), ctypes.c_uint64(value), ACQUIRE)

    def sleep(self, memory, word, value, seconds):
        """Sleeps while the word has this value, until somebody wakes it, a signal arrives, or the time is over."""
        time_out = (ctypes.c_long * 2)(int(seconds), int(seconds % 1 * 1e9))
        self.libc.syscall(
            ctypes.c_long(self.futex), at(memory, word), ctypes.c_long(FUTEX_WAIT), ctypes.c_long(value), time_out, None, None
        )

    def barrier_everywhere(self):
        """A full fence in every writer; False where the kernel offers none."""
        zero = ctypes.c_long(0)
        commands = MEMBARRIER_GLOBAL, MEMBARRIER_GLOBAL_EXPEDITED
        return any(self.libc.syscall(ctypes.c_long(self.membarrier), ctypes.c_long(c), zero, zero) == 0 for c in commands)

    def cpu(self):
        return self.libc.sched_getcpu()


def at(memory, word):
    return ctypes.byref(ctypes.c_uint64.from_buffer(memory, word * 8))


def own_folder(path):
    """Refuses a folder that another user owns or can write: what is read there decides what this process writes."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"{path} belongs to another user, or others can write it")


def say(line):
    print(line, flush=True)


def register(path, node):
    """Asks master for the seat; returns the assignment."""
    request = {"register": {"version": PROTOCOL, "node": node, "pid": os.getpid()}}
    line = json.dumps(request, separators=(",", ":"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_WITHIN)
        connection.connect(path)
        say(f"> {line}")
        connection.sendall(line.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            more = connection.recv(65536)
            if not more:
                raise Refused("master hung up without an answer")
            answer += more
    say(f"< {answer.decode().rstrip()}")
    answer = json.loads(answer)
    if "assigned" not in answer:
        raise Refused(f"master refuses: {answer['refused']['reason']}")
    return answer["assigned"]


def seconds_of(text):
    """`50us`, `1s 500ms`."""
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"(\d+)(ns|us|ms|s)\b", text))


def cpus_of(text):
    """`2-5,7`."""
    cpus = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


class Seat:
    """This process's record in the registry."""

    def __init__(self, path, number, kernel):
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.words, self.kernel = memoryview(self.memory).cast("Q"), kernel
        if self.memory[:8] != b"COLOSEAT":
            raise Refused(f"{path} is no registry")
        version, layout = self.words[REGISTRY_VERSION] & 0xFFFFFFFF, self.words[REGISTRY_HASH]
        if (version, layout) != (VERSION, LAYOUT_HASH):
            raise Refused(f"{path} has format {version}, layout {layout:#018x}")
        if not 0 < number < self.words[SEATS] & 0xFFFFFFFF:
            raise Refused(f"there is no seat {number}")
        self.record = RECORDS + number * RECORD
        # A predecessor's doorbell: this program looks at all of its few journals instead.
        kernel.clear_bits(self.memory, NOTIFY + number // 64 * 2, 1 << number % 64)
        self[WAIT] = AWAKE
        self.beaten = 0.0

    def __getitem__(self, word):
        return self.words[self.record + word]

    def __setitem__(self, word, value):
        self.words[self.record + word] = value

    def count(self, counter, amount=1):
        self[COUNTERS + counter] += amount

    def now(self):
        """The platform's time."""
        return time.monotonic_ns() + self.words[CLOCK_OFFSET] & 0xFFFFFFFFFFFFFFFF

    def announce(self):
        """After interest is set, before the first sleep: writers must see it."""
        if not self.kernel.barrier_everywhere():
            self.words[FENCES] = 1
            self.kernel.fence()
            time.sleep(0.002)

    def beat(self):
        if time.monotonic() - self.beaten >= BEAT:
            self.beaten = time.monotonic()
            self[HEARTBEAT], self[CPU] = self.now(), max(0, self.kernel.cpu())

    def park(self, has_news):
        """Sleeps until a writer wakes this seat, unless there is news."""
        word = self.record + WAIT
        self.words[word] = PARKED
        self.kernel.fence()
        if has_news():
            self.words[word] = AWAKE
            return
        self.kernel.sleep(self.memory, word, PARKED, SLEEP)
        before = self.kernel.swap(self.memory, word, AWAKE)
        self.count(PARKS)
        self.count(WAKES, before == AWAKE)


class Input:
    """A journal that the seat reads."""

    def __init__(self, folder, huge, seat, read):
        name = read["journal"]
        rings = os.path.join(folder, "journals") if read["huge"] is None else huge(read["huge"])
        control = os.path.join(folder, "journals", f"{name}.ctl")
        self.journal = Journal(control, os.path.join(rings, f"{name}.ring"), writable=True)
        if read["gated"]:
            self.reader = GatedReader(self.journal, seat)
        else:
            start = self.journal.oldest() if read["from_start"] else self.journal.head()
            self.reader = LooseReader(self.journal, start)
        self.name, self.frames, self.lost = name, 0, 0

    def want(self, seat, kernel):
        """Has every frame wake the seat."""
        row = self.journal.seats // 64
        table = CURSORS + 8 * self.journal.seats
        for topic in range(self.journal.topics):
            word = table + topic * row + seat // 64
            kernel.set_bits(self.journal.control_memory, word, 1 << seat % 64)

    def has_news(self):
        return self.journal.commit(self.reader.position) != 0

    def read(self, most):
        """Reads at most so many frames; returns how many there were."""
        for count in range(most):
            try:
                if self.reader.read() is None:
                    return count
            except Lapped as lapped:
                self.lost += lapped.resumed_at - lapped.start
                continue
            self.frames += 1
        return most


class Service:
    def __init__(self):
        instance, node = os.environ["COLO_INSTANCE"], os.environ["COLO_NODE"]
        root = os.path.normpath(os.environ.get("COLO_ROOT") or f"/dev/shm/colo-{os.getuid()}")
        folder = os.path.join(root, instance)
        self.is_asked_to_stop = False
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        own_folder(root)
        own_folder(folder)
        self.kernel = Kernel()
        self.assignment = register(os.path.join(folder, "master.sock"), node)
        if self.assignment["placement"]:
            os.sched_setaffinity(0, cpus_of(self.assignment["placement"]["cpus"]))
        number = self.assignment["seat"]
        self.seat = Seat(os.path.join(folder, "registry"), number, self.kernel)
        user = f"colo-{os.getuid()}" + (root.replace("/", "-") if os.environ.get("COLO_ROOT") else "")
        huge = lambda mount: os.path.join(mount, user, instance)
        self.inputs = [Input(folder, huge, number, read) for read in self.assignment["reads"]]
        mode = self.assignment["mode"]
        self.sleeps = mode != "fast"
        # Napping is a permission: this program parks instead, and is woken.
        adaptive = mode.get("adaptive") if isinstance(mode, dict) else None
        self.spin = seconds_of(adaptive["spin"]) if adaptive else 0.0
        if self.sleeps:
            for each in self.inputs:
                each.want(number, self.kernel)
            self.seat.announce()
        self.most = (self.assignment["section"].get("params") or {}).get("frames")

    def stop(self, *_):
        self.is_asked_to_stop = True

    def frames(self):
        return sum(each.frames for each in self.inputs)

    def round(self):
        count = sum(each.read(256) for each in self.inputs)
        if count:
            self.seat.count(FRAMES_READ, count)
        self.seat.beat()
        return count

    def is_done(self):
        return self.is_asked_to_stop or (self.most is not None and self.frames() >= self.most)

    def has_news(self):
        return self.is_asked_to_stop or any(each.has_news() for each in self.inputs)

    def run(self):
        self.seat.beat()
        self.seat[STATE] = RUNNING
        idle_since = None
        while not self.is_done():
            if self.round():
                idle_since = None
                continue
            idle_since = idle_since or time.monotonic()
            if self.sleeps and time.monotonic() - idle_since >= self.spin:
                self.seat.park(self.has_news)
        self.seat[STATE] = STOPPING
        drain = self.assignment["drain"]
        until = time.monotonic() + drain["secs"] + drain["nanos"] / 1e9
        while self.round() and time.monotonic() < until:
            pass

    def leave(self, code):
        self.seat[EXIT] = code + 1
        self.kernel.fence()
        self.seat[STATE] = STOPPED if code == 0 else DEAD


def main():
    service = None
    try:
        service = Service()
        service.run()
        service.leave(0)
        parks, wakes = service.seat[COUNTERS + PARKS], service.seat[COUNTERS + WAKES]
        read = {each.name: each.frames for each in service.inputs}
        lost = sum(each.lost for each in service.inputs)
        say(json.dumps({"read": read, "lost": lost, "sleeps": parks, "woken": wakes}))
        return 0
    except (Refused, Damaged, OSError, KeyError, ValueError) as error:
        print(f"seat.py: {error}", file=sys.stderr)
        if service is not None:
            service.leave(1)
        return 1


if __name__ == "__main__":
    sys.exit(main())

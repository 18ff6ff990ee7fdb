"""Reads a trace by Perfetto's own description of the format, and fails where that does not know a field."""

import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb


def encoded_again(message):
    """Bytes of what is known of a message: the same as were read, if all of it is."""
    copy = type(message)()
    copy.CopyFrom(message)
    copy.DiscardUnknownFields()
    return copy.ByteSize()


def main():
    trace = pb.Trace()
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    trace.ParseFromString(data)
    if trace.ByteSize() != encoded_again(trace):
        sys.exit("the schema does not know all fields")
    begin, end, instant = (
        pb.TrackEvent.TYPE_SLICE_BEGIN,
        pb.TrackEvent.TYPE_SLICE_END,
        pb.TrackEvent.TYPE_INSTANT,
    )
    kinds = [packet.track_event.type for packet in trace.packet if packet.HasField("track_event")]
    if kinds.count(begin) != kinds.count(end):
        sys.exit("a slice without an end")
    clock = trace.packet[0].clock_snapshot
    if clock.primary_trace_clock != pb.BUILTIN_CLOCK_REALTIME:
        sys.exit(f"the trace's clock is {clock.primary_trace_clock}")
    seen = {"packets": len(trace.packet), "slices": kinds.count(begin), "instants": kinds.count(instant)}
    print(json.dumps(seen))


main()

// Command driver does with a journal what it is told on its standard input: bindings/conformance/README.md.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"colo/journal"
)

// failure is an answer that begins with "error".
type failure struct {
	code string
	text string
}

func (f failure) Error() string { return f.code + " " + f.text }

func usage(text string) error { return failure{"usage", text} }

// codes of the protocol, in the order in which they are looked for.
var codes = []struct {
	of   error
	code string
}{
	{journal.ErrForeign, "foreign"}, {journal.ErrVersion, "version"}, {journal.ErrDamaged, "damaged"},
	{journal.ErrReplaced, "replaced"}, {journal.ErrWriterExists, "writer-exists"}, {journal.ErrSeatTaken, "seat-taken"},
	{journal.ErrNoSuchSeat, "no-such-seat"}, {journal.ErrNoSuchPosition, "no-such-position"},
	{journal.ErrNoSuchTopic, "no-such-topic"}, {journal.ErrFull, "full"}, {journal.ErrBatchFull, "batch-full"},
	{journal.ErrTooLarge, "too-large"}, {journal.ErrOrderOfCalls, "order-of-calls"}, {journal.ErrReadOnly, "usage"},
}

func coded(err error) string {
	var own failure
	if errors.As(err, &own) {
		return own.code
	}
	for _, known := range codes {
		if errors.Is(err, known.of) {
			return known.code
		}
	}
	return "io"
}

// reader of either kind.
type reader interface {
	Next(*journal.Frame) (bool, error)
	HasNews() bool
	Position() uint64
	Publish()
	Close() error
}

type driver struct {
	out      *bufio.Writer
	registry *journal.Registry
	files    journal.Files
	page     *journal.Journal
	// used is mapped for what the driver is: a reader or a writer.
	used   *journal.Journal
	writer *journal.Writer
	reader reader
	gated  *journal.GatedReader
	seat   int
	half   bool
}

func main() {
	d := &driver{out: bufio.NewWriter(os.Stdout), seat: -1}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	ends := false
	for !ends && lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		ends = words[0] == "quit"
		answer, err := d.do(words[0], words[1:])
		switch {
		case err != nil:
			fmt.Fprintf(d.out, "error %s %s\n", coded(err), strings.ReplaceAll(err.Error(), "\n", " "))
		case answer == "":
			fmt.Fprintln(d.out, "ok")
		default:
			fmt.Fprintln(d.out, "ok", answer)
		}
		_ = d.out.Flush()
	}
	d.leave()
}

func (d *driver) leave() {
	if d.reader != nil {
		_ = d.reader.Close()
	}
	if d.writer != nil && !d.half {
		_ = d.writer.Close()
	}
}

func (d *driver) do(command string, words []string) (string, error) {
	if command == "kill" {
		_ = d.out.Flush()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if d.half && command != "quit" {
		return "", usage("it waits for `kill`")
	}
	switch command {
	case "hello":
		return "go 1 write batch records skip half loose gate keep park oldest", nil
	case "quit":
		return "", nil
	case "registry":
		return d.openRegistry(words)
	case "open":
		return d.open(words)
	}
	if d.page == nil {
		return "", usage("`open` comes first")
	}
	switch command {
	case "state":
		return fmt.Sprint(d.page.Epoch(), d.page.Writer(), d.page.Head()), nil
	case "writer":
		return d.attach(words)
	case "write", "batch", "records", "half", "skip":
		if d.writer == nil {
			return "", usage("`writer` comes first")
		}
		return d.write(command, words)
	case "loose", "gate":
		return d.read(command, words)
	case "next", "keep", "interest", "park":
		if d.reader == nil {
			return "", usage("`loose` or `gate` comes first")
		}
	}
	switch command {
	case "next":
		return d.next(words)
	case "keep":
		numbers, err := parse(words, 1, 1)
		if err != nil || d.gated == nil {
			return "", usage("keep POSITION, of a gated reader")
		}
		d.gated.Keep(numbers[0])
		return "", nil
	case "interest":
		return d.interest(words)
	case "park":
		return d.park(words)
	}
	return "", usage("unknown command `" + command + "`")
}

func parse(words []string, least, most int) ([]uint64, error) {
	if len(words) < least || len(words) > most {
		return nil, usage(fmt.Sprintf("%d to %d numbers are needed, not %d", least, most, len(words)))
	}
	numbers := make([]uint64, len(words))
	for index, word := range words {
		number, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, usage("`" + word + "` is no number")
		}
		numbers[index] = number
	}
	return numbers, nil
}

func (d *driver) openRegistry(words []string) (string, error) {
	if len(words) != 1 || d.page != nil {
		return "", usage("registry PATH, before open")
	}
	var err error
	d.registry, err = journal.OpenRegistry(words[0])
	return "", err
}

func (d *driver) open(words []string) (string, error) {
	if len(words) != 2 || d.page != nil {
		return "", usage("open FOLDER NAME, once")
	}
	d.files = journal.FilesIn(words[0], words[1])
	page, err := journal.Open(d.files, journal.Observe)
	if err != nil {
		return "", err
	}
	d.page = page
	return fmt.Sprint(page.Identity(), page.Head()), nil
}

func (d *driver) use(access journal.Access) error {
	if d.used != nil {
		return usage("it is a reader or writer already")
	}
	used, err := journal.Open(d.files, access)
	if err != nil {
		return err
	}
	if used.Identity() != d.page.Identity() {
		return journal.ErrReplaced
	}
	d.used = used
	return nil
}

func (d *driver) attach(words []string) (string, error) {
	numbers, err := parse(words, 1, 1)
	if err != nil {
		return "", err
	}
	if err := d.use(journal.Write); err != nil {
		return "", err
	}
	clock := journal.MonotonicClock()
	if d.registry != nil {
		clock = d.registry.Clock()
	}
	if d.writer, err = d.used.NewWriter(uint32(min(numbers[0], math.MaxUint32)), clock, d.registry); err != nil {
		d.used = nil
		return "", err
	}
	return fmt.Sprint(d.writer.Epoch(), d.writer.Position()), nil
}

// contents of a payload that starts at a position of the stream.
func (d *driver) contents(length, seed uint64, forged bool, at uint64) []byte {
	payload := make([]byte, length)
	for i := range payload {
		i := uint64(i)
		payload[i] = byte(seed*167 + i*31 + (i>>8)*13)
	}
	if forged {
		clear(payload)
		for i := 0; i+8 <= len(payload); i += 8 {
			binary.LittleEndian.PutUint64(payload[i:], at+uint64(i)+d.used.Capacity())
		}
	}
	return payload
}

func checksum(bytes []byte) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, byte := range bytes {
		hash = (hash ^ uint64(byte)) * 0x100000001b3
	}
	return hash
}

func (d *driver) say(frame *journal.Frame) {
	fmt.Fprintf(d.out, "frame %d %d %d %d %d %d %d %016x\n", frame.Position, frame.ID, frame.Topic, frame.Flags,
		frame.Time, frame.Epoch, len(frame.Payload), checksum(frame.Payload))
	if frame.RecordSize() > 0 {
		for position, record := range frame.Records {
			fmt.Fprintf(d.out, "record %d %d %016x\n", position, len(record), checksum(record))
		}
	}
}

func (d *driver) write(command string, words []string) (string, error) {
	if command == "skip" {
		numbers, err := parse(words, 1, 1)
		if err != nil {
			return "", err
		}
		err = d.writer.SkipTo(d.writer.Position() + numbers[0])
		return fmt.Sprint(d.writer.Position()), err
	}
	kind := command
	if command == "half" {
		if len(words) == 0 || words[0] != "frame" && words[0] != "batch" {
			return "", usage("half frame or half batch")
		}
		kind, words = words[0], words[1:]
	}
	forged := len(words) > 3 && words[3] == "forged"
	if forged {
		words = append(append([]string(nil), words[:3]...), append([]string{"0"}, words[4:]...)...)
	}
	most := map[string]int{"write": 6, "frame": 4}[kind]
	if most == 0 {
		most = 5
	}
	numbers, err := parse(words, 4, most)
	if err != nil {
		return "", err
	}
	numbers = append(numbers, []uint64{1, 0}[max(0, len(numbers)-4):]...)
	if numbers[0] > math.MaxUint16 || numbers[1] > math.MaxUint32 || numbers[2] > 1<<40 {
		return "", usage("a number is too large")
	}
	id, topic, length, seed, count := uint16(numbers[0]), uint32(numbers[1]), numbers[2], numbers[3], numbers[4]
	switch {
	case command == "records":
		return d.records(id, topic, length, seed, count)
	case command == "write":
		return d.frames(id, topic, length, seed, forged, count, time.Duration(numbers[5])*time.Millisecond)
	}
	return d.several(command, id, topic, length, seed, forged, count)
}

func (d *driver) frames(id uint16, topic uint32, length, seed uint64, forged bool, count uint64, patience time.Duration) (string, error) {
	until := time.Now().Add(patience)
	for number := range count {
		payload := d.contents(min(length, d.used.MaxPayload()+1), seed+number, forged, d.writer.Position()+32)
		for {
			written, err := d.writer.Write(id, topic, payload)
			if errors.Is(err, journal.ErrFull) && time.Now().Before(until) {
				time.Sleep(50 * time.Microsecond)
				continue
			}
			if err != nil {
				return "", err
			}
			d.say(&journal.Frame{Position: written.Position, Time: written.Time, Payload: payload, Topic: topic,
				Epoch: uint32(d.writer.Epoch()), ID: id})
			break
		}
	}
	return fmt.Sprint(count, d.writer.Position()), nil
}

func (d *driver) several(command string, id uint16, topic uint32, length, seed uint64, forged bool, count uint64) (string, error) {
	batch := d.writer.Batch()
	at := d.writer.Position()
	frames := make([]journal.Frame, 0, min(count, 1<<16))
	for number := range count {
		payload := d.contents(min(length, d.used.MaxPayload()+1), seed+number, forged, at+32)
		position, err := batch.Push(id, topic, payload)
		if err != nil {
			batch.Abandon()
			return "", err
		}
		frames = append(frames, journal.Frame{Position: position, Payload: payload, Topic: topic, Epoch: uint32(d.writer.Epoch()), ID: id})
		at = position + (32+length+63)&^63
	}
	if command == "half" {
		d.half = true
		return fmt.Sprint(batch.Stage()), nil
	}
	written := batch.Commit()
	for index := range frames {
		frames[index].Time = written.Time
		d.say(&frames[index])
	}
	return fmt.Sprint(count, d.writer.Position()), nil
}

func (d *driver) records(id uint16, topic uint32, size, seed, count uint64) (string, error) {
	if size > 1<<20 || count > 1<<20 {
		return "", journal.ErrBatchFull
	}
	var payload []byte
	for number := range count {
		payload = append(payload, d.contents(size, seed+number, false, 0)...)
	}
	written, err := d.writer.WriteRecords(id, topic, int(size), payload)
	if err != nil {
		return "", err
	}
	d.say(&journal.Frame{Position: written.Position, Time: written.Time, Payload: payload, Topic: topic,
		Epoch: uint32(d.writer.Epoch()), ID: id, Flags: uint16(size)})
	return fmt.Sprint("1 ", d.writer.Position()), nil
}

func (d *driver) read(command string, words []string) (string, error) {
	if command == "gate" {
		numbers, err := parse(words, 1, 1)
		if err != nil {
			return "", err
		}
		if err := d.use(journal.Read); err != nil {
			return "", err
		}
		if d.gated, err = d.used.Gated(uint32(min(numbers[0], math.MaxUint32))); err != nil {
			d.used = nil
			return "", err
		}
		d.reader, d.seat = d.gated, int(numbers[0])
		return fmt.Sprint(d.reader.Position()), nil
	}
	if len(words) != 2 {
		return "", usage("loose SEAT START")
	}
	access, seat := journal.Observe, uint64(0)
	if words[0] != "-" {
		var err error
		if seat, err = strconv.ParseUint(words[0], 10, 32); err != nil {
			return "", usage("a seat is a number or -")
		}
		access = journal.Read
	}
	if err := d.use(access); err != nil {
		return "", err
	}
	position, err := d.start(words[1])
	if err == nil {
		var loose *journal.LooseReader
		if access == journal.Observe {
			loose, err = d.used.Loose(position)
		} else {
			loose, err = d.used.LooseIn(uint32(seat), position)
			d.seat = int(seat)
		}
		if err == nil {
			d.reader = loose
		}
	}
	if err != nil {
		d.used = nil
		return "", err
	}
	return fmt.Sprint(d.reader.Position()), nil
}

func (d *driver) start(word string) (uint64, error) {
	switch word {
	case "head":
		return d.used.Head(), nil
	case "first":
		return d.used.First(), nil
	case "oldest":
		return d.used.Oldest(), nil
	}
	position, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return 0, usage("START is head, first, oldest or a position")
	}
	return position, nil
}

func (d *driver) next(words []string) (string, error) {
	numbers, err := parse(words, 0, 2)
	if err != nil {
		return "", err
	}
	count, patience := uint64(1), time.Duration(0)
	if len(numbers) > 0 {
		count = numbers[0]
	}
	if len(numbers) > 1 {
		patience = time.Duration(numbers[1]) * time.Millisecond
	}
	until := time.Now().Add(patience)
	var frame journal.Frame
	done := uint64(0)
	for done < count {
		found, err := d.reader.Next(&frame)
		var gap *journal.Gap
		switch {
		case errors.As(err, &gap):
			fmt.Fprintf(d.out, "gap %d %d\n", gap.From, gap.Resumed)
		case err != nil:
			return "", err
		case found:
			d.say(&frame)
			done++
		case !time.Now().Before(until):
			count = 0
		default:
			time.Sleep(20 * time.Microsecond)
		}
	}
	if d.gated != nil {
		d.gated.Release()
	}
	return fmt.Sprint(done, d.reader.Position()), nil
}

func (d *driver) interest(words []string) (string, error) {
	if d.registry == nil || d.seat < 0 {
		return "", usage("interest needs a seat and a registry")
	}
	var topics []uint32
	if len(words) != 1 || words[0] != "all" {
		topics = []uint32{}
		for _, word := range words {
			topic, err := strconv.ParseUint(word, 10, 32)
			if err != nil {
				return "", usage("`" + word + "` is no topic")
			}
			if topic >= uint64(d.used.Topics()) {
				return "", journal.ErrNoSuchTopic
			}
			topics = append(topics, uint32(topic))
		}
	}
	if err := d.used.SetInterest(uint32(d.seat), topics); err != nil {
		return "", err
	}
	d.registry.Announce()
	return "", nil
}

func (d *driver) park(words []string) (string, error) {
	numbers, err := parse(words, 1, 1)
	if err != nil || d.registry == nil || d.seat < 0 {
		return "", usage("park MS, with a seat and a registry")
	}
	if uint32(d.seat) >= d.registry.Seats() {
		return "", journal.ErrNoSuchSeat
	}
	how := d.registry.Park(uint32(d.seat), time.Duration(numbers[0])*time.Millisecond, d.reader.HasNews)
	return map[journal.Sleep]string{journal.NotAsleep: "news", journal.Woken: "woken", journal.TimedOut: "timeout"}[how], nil
}

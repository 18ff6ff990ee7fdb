// Command bench reads, writes and sleeps as it is told on its standard input, and says how long it took: bindings/README.md.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"colo/journal"
)

const (
	// Longest that a sleeper waits for a message.
	patience      = 20 * time.Second
	safetyTimeout = 100 * time.Millisecond
)

var out = bufio.NewWriter(os.Stdout)

func main() {
	runtime.LockOSThread()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "quit" {
			return
		}
		answer, err := do(words[0], words[1:])
		if err != nil {
			fmt.Fprintln(out, "error", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Fprintln(out, "ok", answer)
		}
		if out.Flush() != nil {
			return
		}
	}
}

func do(command string, words []string) (string, error) {
	needed, known := map[string]int{"hello": 0, "read": 3, "batch": 3, "write": 5, "wake": 5}[command]
	if !known || len(words) != needed {
		return "", fmt.Errorf("there is no command `%s` with %d words", command, len(words))
	}
	if command == "hello" {
		return "go 1 read batch write wake", nil
	}
	var numbers []uint64
	for _, word := range words[min(2, len(words)):] {
		number, _ := strconv.ParseUint(word, 10, 64)
		numbers = append(numbers, number)
	}
	files := journal.FilesIn(words[0], words[1])
	switch command {
	case "write":
		return write(files, words[2], numbers[1], numbers[2])
	case "wake":
		return wake(files, words[2], uint32(numbers[1]), int(numbers[2]))
	}
	return read(files, numbers[0], command == "batch")
}

// stats are no variable of the function: that one would be allocated, and counted.
var stats runtime.MemStats

// allocated is how many bytes all of it has allocated so far.
func allocated() uint64 {
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func read(files journal.Files, rounds uint64, inBatches bool) (string, error) {
	j, err := journal.Open(files, journal.Observe)
	if err != nil {
		return "", err
	}
	defer j.Close()
	var frame journal.Frame
	var frames, sum, made uint64
	var spent time.Duration
	each := func(frame *journal.Frame) {
		frames++
		sum += binary.LittleEndian.Uint64(frame.Payload)
	}
	for range rounds {
		reader, err := j.Loose(j.First())
		if err != nil {
			return "", err
		}
		before := allocated()
		begun := time.Now()
		if inBatches {
			for {
				count, err := reader.ReadBatch(64, each)
				if err != nil {
					return "", err
				}
				if count == 0 {
					break
				}
			}
		} else {
			for {
				found, err := reader.Next(&frame)
				if err != nil {
					return "", err
				}
				if !found {
					break
				}
				frames++
				sum += binary.LittleEndian.Uint64(frame.Payload)
			}
		}
		spent += time.Since(begun)
		made += allocated() - before
		if err := reader.Close(); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(frames, spent.Nanoseconds(), sum, made), nil
}

func write(files journal.Files, registryPath string, count, bytes uint64) (string, error) {
	j, err := journal.Open(files, journal.Write)
	if err != nil {
		return "", err
	}
	defer j.Close()
	registry, err := journal.OpenRegistry(registryPath)
	if err != nil {
		return "", err
	}
	defer registry.Close()
	writer, err := j.NewWriter(0, registry.Clock(), registry)
	if err != nil {
		return "", err
	}
	defer writer.Close()
	payload := make([]byte, bytes)
	before := allocated()
	begun := time.Now()
	for range count {
		if _, err := writer.Write(1, 0, payload); err != nil {
			return "", err
		}
	}
	spent := time.Since(begun)
	return fmt.Sprint(count, spent.Nanoseconds(), allocated()-before), nil
}

// monotonic is the system's clock, which every language has.
func monotonic() uint64 {
	var now syscall.Timespec
	const clockMonotonic = 1
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return uint64(now.Nano())
}

func wake(files journal.Files, registryPath string, seat uint32, count int) (string, error) {
	j, err := journal.Open(files, journal.Read)
	if err != nil {
		return "", err
	}
	defer j.Close()
	registry, err := journal.OpenRegistry(registryPath)
	if err != nil {
		return "", err
	}
	defer registry.Close()
	reader, err := j.LooseIn(seat, j.Head())
	if err != nil {
		return "", err
	}
	defer reader.Close()
	if err := j.SetInterest(seat, nil); err != nil {
		return "", err
	}
	registry.Announce()
	fmt.Fprintln(out, "ready")
	if err := out.Flush(); err != nil {
		return "", err
	}
	times := make([]uint64, 0, count)
	var frame journal.Frame
	for last := time.Now(); len(times) < count; {
		found, err := reader.Next(&frame)
		switch {
		case err != nil:
			return "", err
		case found:
			times = append(times, monotonic()-binary.LittleEndian.Uint64(frame.Payload))
			last = time.Now()
		case time.Since(last) > patience:
			return "", errors.New("no message came")
		default:
			registry.Park(seat, safetyTimeout, reader.HasNews)
		}
	}
	// Nobody is to be woken any more.
	if err := j.SetInterest(seat, []uint32{}); err != nil {
		return "", err
	}
	return strings.Trim(fmt.Sprint(times), "[]"), nil
}

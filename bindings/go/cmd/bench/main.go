// Command bench times reading and writing a journal: bench FOLDER NAME BYTES. It prints medians of 60 blocks of half a ring.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"colo/journal"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("bench FOLDER NAME BYTES: of a journal that nobody else writes")
	}
	length, err := strconv.Atoi(arguments[2])
	if err != nil {
		return err
	}
	j, err := journal.Open(journal.FilesIn(arguments[0], arguments[1]), journal.Write)
	if err != nil {
		return err
	}
	writer, err := j.NewWriter(0, journal.MonotonicClock(), nil)
	if err != nil {
		return err
	}
	defer writer.Close()
	reader, err := j.Loose(j.Head())
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	frames := int(j.Capacity()) / ((32 + length + 63) &^ 63) / 2
	payload := make([]byte, length)
	var frame journal.Frame
	var reads, writes []float64
	var before, after runtime.MemStats
	sum := 0
	runtime.ReadMemStats(&before)
	for range 60 {
		begun := time.Now()
		for range frames {
			if _, err := writer.Write(1, 2, payload); err != nil {
				return err
			}
		}
		writes = append(writes, float64(time.Since(begun).Nanoseconds())/float64(frames))
		begun = time.Now()
		for range frames {
			if found, err := reader.Next(&frame); !found || err != nil {
				return fmt.Errorf("no frame: %w", err)
			}
			sum += int(frame.Payload[0])
		}
		reads = append(reads, float64(time.Since(begun).Nanoseconds())/float64(frames))
	}
	runtime.ReadMemStats(&after)
	slices.Sort(reads)
	slices.Sort(writes)
	fmt.Printf("go %d: read p50 %.1f best %.1f, write p50 %.1f best %.1f ns; %.4f bytes allocated a message (%d)\n", length,
		reads[30], reads[0], writes[30], writes[0], float64(after.TotalAlloc-before.TotalAlloc)/float64(120*frames), sum)
	return nil
}

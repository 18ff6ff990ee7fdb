package journal

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// startOf a process: together with its id it identifies one process for ever. 0 if it has ended.
func startOf(process int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	// The name may hold anything, also brackets: fields are counted from behind the last one.
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0
	}
	fields := bytes.Fields(text[end+1:])
	const state, start = 0, 19
	if len(fields) <= start || fields[state][0] == 'Z' || fields[state][0] == 'X' {
		return 0
	}
	value, _ := strconv.ParseUint(string(fields[start]), 10, 64)
	return value
}

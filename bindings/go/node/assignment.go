package node

import (
	"encoding/json"
	"fmt"
	"time"
)

// Assignment is all that a node needs to know, as master says it.
type Assignment struct {
	Node          string          `json:"node"`
	Kind          string          `json:"kind"`
	Seat          uint32          `json:"seat"`
	Generation    uint64          `json:"generation"`
	Mode          Mode            `json:"mode"`
	Wake          string          `json:"wake"`
	Deterministic bool            `json:"deterministic"`
	RecordedClock bool            `json:"recorded_clock"`
	Drain         Duration        `json:"drain"`
	LockMemory    bool            `json:"lock_memory"`
	Section       json.RawMessage `json:"section"`
	Placement     *Placement      `json:"placement"`
	Writes        []WriteOf       `json:"writes"`
	Reads         []ReadOf        `json:"reads"`
}

// Placement says where the process runs.
type Placement struct {
	CPUs   string  `json:"cpus"`
	Policy *string `json:"policy"`
}

// WriteOf a journal.
type WriteOf struct {
	Role    string  `json:"role"`
	Journal string  `json:"journal"`
	Huge    *string `json:"huge"`
}

// ReadOf a journal.
type ReadOf struct {
	Role      string  `json:"role"`
	Journal   string  `json:"journal"`
	Huge      *string `json:"huge"`
	Gated     bool    `json:"gated"`
	FromStart bool    `json:"from_start"`
	Durable   bool    `json:"durable"`
	Peer      string  `json:"peer"`
	PeerSeat  uint32  `json:"peer_seat"`
}

// Duration in seconds and nanoseconds.
type Duration struct {
	Secs  uint64 `json:"secs"`
	Nanos uint32 `json:"nanos"`
}

// Of Go's own kind.
func (d Duration) Of() time.Duration {
	return time.Duration(d.Secs)*time.Second + time.Duration(d.Nanos)
}

// Mode of waiting.
type Mode struct {
	// Sleeps is false for a node that polls without a pause.
	Sleeps bool
	// Spin is how long it polls before it sleeps.
	Spin time.Duration
}

// UnmarshalJSON reads "fast", "parked", {"adaptive":{"spin":"30us"}} or {"napping":…}, which parks here: a nap is allowed, not asked for.
func (m *Mode) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		*m = Mode{Sleeps: name != "fast"}
		return nil
	}
	var table map[string]struct {
		Spin   string `json:"spin"`
		Within string `json:"within"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		return fmt.Errorf("the mode %s is not known: is master of another version?", text)
	}
	*m = Mode{Sleeps: true}
	if adaptive, is := table["adaptive"]; is {
		var err error
		m.Spin, err = parseDuration(adaptive.Spin)
		return err
	}
	return nil
}

// parseDuration reads "1ms 500us".
func parseDuration(text string) (time.Duration, error) {
	plain := make([]byte, 0, len(text))
	for _, byte := range []byte(text) {
		if byte != ' ' {
			plain = append(plain, byte)
		}
	}
	return time.ParseDuration(string(plain))
}

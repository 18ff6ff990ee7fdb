package strategy

import (
	"slices"

	"colo/wire"
)

// TimerID is never given out twice by one process.
type TimerID uint64

// Timer that is due.
type Timer struct {
	ID  TimerID
	Key uint64
	Due wire.Nanos
}

type entry struct {
	Timer
	// floating: its time counts from a start that is not known yet.
	floating bool
}

// timers, the next one last; of two with the same time, the one set first.
type timers struct {
	entries []entry
	next    TimerID
}

func newTimers() timers { return timers{make([]entry, 0, 64), 1} }

func (e *entry) isLater(other *entry) bool {
	return e.Due > other.Due || e.Due == other.Due && e.ID > other.ID
}

func (t *timers) set(due wire.Nanos, key uint64, floating bool) TimerID {
	added := entry{Timer{t.next, key, due}, floating}
	t.next++
	index := len(t.entries)
	for index > 0 && added.isLater(&t.entries[index-1]) {
		index--
	}
	t.entries = slices.Insert(t.entries, index, added)
	return added.ID
}

func (t *timers) cancel(id TimerID) bool {
	for index := range t.entries {
		if t.entries[index].ID == id {
			t.entries = slices.Delete(t.entries, index, index+1)
			return true
		}
	}
	return false
}

// nextDue is false if no timer is set.
func (t *timers) nextDue() (wire.Nanos, bool) {
	if len(t.entries) == 0 {
		return 0, false
	}
	return t.entries[len(t.entries)-1].Due, true
}

// pop the next one, if it is due and was set before limit.
func (t *timers) pop(now wire.Nanos, limit TimerID) (Timer, bool) {
	if len(t.entries) == 0 {
		return Timer{}, false
	}
	last := t.entries[len(t.entries)-1]
	if last.Due > now || last.ID >= limit {
		return Timer{}, false
	}
	t.entries = t.entries[:len(t.entries)-1]
	return last.Timer, true
}

// begin: the start is known, from which some count.
func (t *timers) begin(start wire.Nanos) {
	for index := range t.entries {
		if t.entries[index].floating {
			t.entries[index].floating = false
			t.entries[index].Due += start
		}
	}
	slices.SortFunc(t.entries, func(a, b entry) int {
		if a.isLater(&b) {
			return -1
		}
		return 1
	})
}

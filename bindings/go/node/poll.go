package node

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"colo/journal"
	"colo/layout"
)

// Component is what a node runs. All calls come on one thread.
type Component interface {
	// Turn comes before each round over the inputs.
	Turn() error
	// Accepts says whether the next frame of an input, at this position, may be taken now.
	Accepts(input int, position uint64) bool
	// Frame hands one over; it is valid up to the end of the call.
	Frame(input int, frame *journal.Frame) error
	// Gap says that frames of an input are lost.
	Gap(input int, gap *journal.Gap) error
	// InTimeOrder takes frames of all inputs in the order of their times.
	InTimeOrder() bool
	// Stop comes once, at the end in good order.
	Stop() error
}

const (
	burst        = 64
	idleRounds   = 1 << 10
	heartbeat    = 10_000_000
	missed       = 10_000_000
	shortestNet  = 100 * time.Millisecond
	longestSleep = 400 * time.Millisecond
)

type poll struct {
	*Node
	component Component
	ordered   bool
	frame     journal.Frame
	lastBeat  uint64
	lastNews  uint64
	idle      uint32
	net       time.Duration
	hasNews   func() bool
	// ends of the inputs, once the node stops: what comes later is not read, and nothing once it is late.
	ends []uint64
	late time.Time
}

// Run polls until it is asked to stop. Afterwards the seat says how it ended.
func (n *Node) Run(component Component) (err error) {
	runtime.LockOSThread()
	defer func() {
		if panicked := recover(); panicked != nil {
			stack := make([]byte, 16<<10)
			err = fail(ExitFailed, "panic: %v\n%s", panicked, stack[:runtime.Stack(stack, false)])
		}
		code := ExitDone
		if err != nil {
			code = CodeOf(err)
		}
		n.leave(code)
	}()
	p := &poll{Node: n, component: component, ordered: component.InTimeOrder(), net: shortestNet}
	p.hasNews = p.anyNews
	return p.run()
}

// Abandon a node that cannot run.
func (n *Node) Abandon(err error) { n.leave(CodeOf(err)) }

func (p *poll) run() error {
	p.beat(p.Now())
	p.registry.SetWord(p.Assignment.Seat, layout.RegistryState, running)
	for !p.stop.asked.Load() && !p.wantsStop {
		p.deadline = math.MaxUint64
		if err := p.component.Turn(); err != nil {
			return err
		}
		any, err := p.round()
		if err != nil {
			return err
		}
		if any {
			p.lastNews = p.Now()
			p.beat(p.lastNews)
			continue
		}
		p.wait()
	}
	p.registry.SetWord(p.Assignment.Seat, layout.RegistryState, stopping)
	if err := p.drain(); err != nil {
		return err
	}
	return p.component.Stop()
}

func (p *poll) drain() error {
	for _, input := range p.Inputs {
		p.ends = append(p.ends, input.Head())
	}
	p.late = time.Now().Add(p.Assignment.Drain.Of())
	for {
		any, err := p.round()
		if err != nil {
			return err
		}
		if !any {
			p.tellUnread()
			return nil
		}
	}
}

// tellUnread: there was no time for it, or the component does not take it, as a strategy that waits for its state.
func (p *poll) tellUnread() {
	for index, input := range p.Inputs {
		if at := input.Position(); at < p.ends[index] {
			Log(LevelWarn, "colo/node", fmt.Sprintf("stops with %d bytes of `%s` unread", p.ends[index]-at, input.Journal))
		}
	}
}

func (p *poll) accepts(index int) bool {
	input := p.Inputs[index]
	position := input.reader.Position()
	input.accepts = p.component.Accepts(index, position)
	// While it stops, the time counts after each frame: one may take long.
	return input.accepts && (p.ends == nil || position < p.ends[index] && time.Now().Before(p.late))
}

func (p *poll) round() (bool, error) {
	taken := 0
	if p.ordered {
		for taken < burst {
			index, err := p.earliest()
			if err != nil || index < 0 {
				return taken > 0, err
			}
			if _, err := p.take(index); err != nil {
				return true, err
			}
			taken++
		}
		return true, nil
	}
	for index := range p.Inputs {
		count := 0
		for count < burst && p.accepts(index) {
			found, err := p.take(index)
			if err != nil {
				return true, err
			}
			if !found {
				break
			}
			count++
		}
		if count == burst {
			if gated := p.Inputs[index].gated; gated != nil {
				gated.Release()
			}
		}
		taken += count
	}
	return taken > 0, nil
}

// earliest input by the time of its next frame. The cause of a frame was committed before it, but perhaps behind our look
// at its journal: so a look counts only when the next one finds the same.
func (p *poll) earliest() (int, error) {
	before := -2
	for {
		found, least, number := -1, uint64(math.MaxUint64), uint32(0)
		for index, input := range p.Inputs {
			if !p.accepts(index) {
				continue
			}
			time, is, err := input.reader.PeekTime()
			if err != nil {
				if err := p.failed(index, err); err != nil {
					return -1, err
				}
				continue
			}
			if id := input.JournalID(); is && (found < 0 || time < least || time == least && id < number) {
				found, least, number = index, time, id
			}
		}
		if found == before {
			return found, nil
		}
		before = found
	}
}

func (p *poll) take(index int) (bool, error) {
	found, err := p.Inputs[index].reader.Next(&p.frame)
	if err != nil {
		return true, p.failed(index, err)
	}
	if !found {
		return false, nil
	}
	p.Count(FramesRead, 1)
	return true, p.component.Frame(index, &p.frame)
}

func (p *poll) failed(index int, err error) error {
	var gap *journal.Gap
	if !errors.As(err, &gap) {
		return fmt.Errorf("reading: %w", err)
	}
	p.Count(Gaps, 1)
	p.Count(BytesLost, gap.Bytes())
	return p.component.Gap(index, gap)
}

func (p *poll) anyNews() bool {
	for _, input := range p.Inputs {
		if input.accepts && input.reader.HasNews() {
			return true
		}
	}
	return p.stop.asked.Load()
}

func (p *poll) wait() {
	if !p.Assignment.Mode.Sleeps {
		p.spin()
		return
	}
	now := p.Now()
	if spin := p.Assignment.Mode.Spin; spin > 0 && now-p.lastNews < uint64(spin) {
		p.spin()
		return
	}
	p.beat(now)
	longest, isNet := p.net, true
	if p.deadline <= now {
		return
	}
	if p.deadline-now < uint64(longest) {
		longest, isNet = time.Duration(p.deadline-now), false
	}
	switch p.registry.Park(p.Assignment.Seat, longest, p.hasNews) {
	case journal.NotAsleep:
		p.net = shortestNet
		return
	case journal.Woken:
		p.Count(Parks, 1)
		p.Count(Wakes, 1)
		p.net = shortestNet
	case journal.TimedOut:
		p.Count(Parks, 1)
		p.look(isNet)
	}
}

// look for what a waker that was killed did not tell.
func (p *poll) look(isNet bool) {
	found, late := false, false
	now := p.Now()
	for index, input := range p.Inputs {
		if !input.reader.HasNews() {
			continue
		}
		found = true
		if input.accepts {
			time, is, err := input.reader.PeekTime()
			if err != nil {
				// A gap; what else is wrong is found again at the next read.
				_ = p.failed(index, err)
			}
			late = late || err == nil && is && now > time+missed
		}
	}
	if late {
		p.Count(WaitTimeoutsWithData, 1)
	}
	if isNet {
		p.Count(WaitTimeouts, 1)
	}
	switch {
	case found:
		p.net = shortestNet
	case isNet && p.Assignment.Wake != "relay":
		p.net = min(2*p.net, longestSleep)
	}
}

func (p *poll) spin() {
	p.idle++
	if p.idle%idleRounds == 0 {
		p.beat(p.Now())
	}
}

func (p *poll) beat(now uint64) {
	if now-p.lastBeat >= heartbeat {
		p.lastBeat = now
		p.registry.SetWord(p.Assignment.Seat, layout.RegistryHeartbeat, now)
		p.registry.SetWord(p.Assignment.Seat, layout.RegistryCpu, currentCPU())
	}
}

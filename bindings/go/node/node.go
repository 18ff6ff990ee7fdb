package node

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"syscall"

	"colo/journal"
	"colo/layout"
)

// Node is a process that has its seat, its place and its journals.
type Node struct {
	Assignment *Assignment
	Inputs     []*Input
	Outputs    []*Output
	instance   instance
	registry   *journal.Registry
	clock      *journal.Clock
	stop       *stopFlag
	deadline   uint64
	wantsStop  bool
}

// reader of either kind.
type reader interface {
	Next(*journal.Frame) (bool, error)
	PeekTime() (uint64, bool, error)
	HasNews() bool
	Position() uint64
	SetTopics(journal.Topics)
	SetDurable(bool)
	Publish()
	Close() error
}

// Input is a journal that the node reads.
type Input struct {
	ReadOf
	journal *journal.Journal
	reader  reader
	gated   *journal.GatedReader
	node    *Node
	// accepts says whether frames of it were taken at the last look: only they end a sleep.
	accepts bool
}

// Output is a journal that the node writes.
type Output struct {
	WriteOf
	*journal.Writer
	journal *journal.Journal
}

// JournalID is the journal's number in the instance.
func (i *Input) JournalID() uint32 { return i.journal.ID() }

// Head is the end of its frames.
func (i *Input) Head() uint64 { return i.journal.Head() }

// Position of the next frame.
func (i *Input) Position() uint64 { return i.reader.Position() }

// JournalID is the journal's number in the instance.
func (o *Output) JournalID() uint32 { return o.journal.ID() }

// Join registers, moves to the planned place, and opens the journals.
func Join(name, node string) (*Node, error) {
	i, err := findInstance(name)
	if err != nil {
		return nil, err
	}
	stop := installStop()
	if err := i.demandOwn(); err != nil {
		return nil, err
	}
	assignment, err := register(i, node)
	if err != nil {
		return nil, err
	}
	n := &Node{Assignment: assignment, instance: i, stop: stop}
	if err := n.open(); err != nil {
		n.leave(CodeOf(err))
		return nil, fmt.Errorf("node `%s`: %w", node, err)
	}
	return n, nil
}

func (n *Node) open() error {
	a := n.Assignment
	var err error
	if n.registry, err = journal.OpenRegistry(filepath.Join(n.instance.folder(), "registry")); err != nil {
		return err
	}
	if a.Placement != nil {
		if err := place(a.Placement); err != nil {
			return err
		}
	}
	if a.LockMemory {
		if err := syscall.Mlockall(syscall.MCL_CURRENT | syscall.MCL_FUTURE); err != nil {
			return fmt.Errorf("locking memory: %w", err)
		}
	}
	n.stop.wakes(n.registry, a.Seat)
	n.clock = n.registry.Clock()
	n.registry.LeaveBell(a.Seat)
	for _, of := range a.Writes {
		page, err := journal.Open(n.files(of.Journal, of.Huge), journal.Write)
		if err != nil {
			return err
		}
		writer, err := page.NewWriter(a.Seat, n.clock, n.registry)
		if err != nil {
			return err
		}
		n.Outputs = append(n.Outputs, &Output{of, writer, page})
	}
	for _, of := range a.Reads {
		input, err := n.openInput(of)
		if err != nil {
			return err
		}
		n.Inputs = append(n.Inputs, input)
	}
	if a.Mode.Sleeps {
		n.registry.Announce()
	}
	return nil
}

func (n *Node) files(name string, huge *string) journal.Files {
	files := journal.FilesIn(n.instance.journals(), name)
	files.Ring = filepath.Join(n.instance.rings(huge), name+".ring")
	return files
}

func (n *Node) openInput(of ReadOf) (*Input, error) {
	page, err := journal.Open(n.files(of.Journal, of.Huge), journal.Read)
	if err != nil {
		return nil, err
	}
	input := &Input{ReadOf: of, journal: page, node: n, accepts: true}
	if of.Gated {
		input.gated, err = page.Gated(n.Assignment.Seat)
		input.reader = input.gated
	} else {
		start := page.Head()
		if of.FromStart {
			start = page.Oldest()
		}
		input.reader, err = page.LooseIn(n.Assignment.Seat, start)
	}
	if err != nil {
		return nil, err
	}
	input.reader.SetDurable(of.Durable)
	return input, input.narrow(nil)
}

// Narrow has the input read only these topics, and wake the node only for them; nil: all.
func (i *Input) Narrow(topics []uint32) error {
	if err := i.narrow(topics); err != nil {
		return err
	}
	if i.node.Assignment.Mode.Sleeps {
		i.node.registry.Announce()
	}
	return nil
}

func (i *Input) narrow(topics []uint32) error {
	i.reader.SetTopics(nil)
	if topics != nil {
		i.reader.SetTopics(journal.OnlyTopics(topics))
	}
	seat, sleeps := i.node.Assignment.Seat, i.node.Assignment.Mode.Sleeps
	if i.Durable {
		// Only the disk wakes it.
		if err := i.journal.SetDurableInterest(seat, sleeps); err != nil {
			return err
		}
		return i.journal.SetInterest(seat, []uint32{})
	}
	switch {
	case !sleeps:
		topics = []uint32{}
	case i.node.Assignment.Wake == "broadcast":
		topics = nil
	}
	return i.journal.SetInterest(seat, topics)
}

// InputOf a role; -1 if there is none.
func (n *Node) InputOf(role string) int {
	for index, input := range n.Inputs {
		if input.Role == role {
			return index
		}
	}
	return -1
}

// OutputOf a role; nil if there is none.
func (n *Node) OutputOf(role string) *Output {
	for _, output := range n.Outputs {
		if output.Role == role {
			return output
		}
	}
	return nil
}

// Section of the platform file, read into a struct.
func (n *Node) Section(into any) error { return json.Unmarshal(n.Assignment.Section, into) }

// Now is the platform's time.
func (n *Node) Now() uint64 { return n.clock.Now() }

// Path of a file of the instance's journals.
func (n *Node) Path(name string) string { return filepath.Join(n.instance.journals(), name) }

// WakeAt has the next sleep end at this time.
func (n *Node) WakeAt(time uint64) { n.deadline = min(n.deadline, time) }

// RequestStop ends the run in good order.
func (n *Node) RequestStop() { n.wantsStop = true }

// Ask the node in a seat for this node's state; Settle says that it no longer waits for it.
func (n *Node) Ask(whom uint32) {
	asked := n.registry.Word(n.Assignment.Seat, layout.RegistryAsked)
	n.registry.SetWord(n.Assignment.Seat, layout.RegistryAsked, (asked/2+1)*2+1)
	n.registry.Wake(whom)
}

// Settle ends the wait for the answer.
func (n *Node) Settle(whom uint32) {
	asked := n.registry.Word(n.Assignment.Seat, layout.RegistryAsked)
	n.registry.SetWord(n.Assignment.Seat, layout.RegistryAsked, max(asked/2, 1)*2)
	n.registry.Wake(whom)
}

// leave closes what is open, and says in the seat with which code the process ends.
func (n *Node) leave(code int) {
	for _, input := range n.Inputs {
		_ = input.reader.Close()
	}
	for _, output := range n.Outputs {
		_ = output.Close()
	}
	if n.registry == nil {
		return
	}
	state := uint64(stopped)
	if code != ExitDone {
		state = dead
	}
	n.registry.SetWord(n.Assignment.Seat, layout.RegistryExit, uint64(code)+1)
	n.registry.SetWord(n.Assignment.Seat, layout.RegistryState, state)
}

package strategy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"colo/journal"
	"colo/node"
	"colo/wire"
)

// target of what is logged here.
const target = "colo/strategy"

// section is what the platform file says of a strategy.
type section struct {
	Index       int              `json:"index"`
	Instruments json.RawMessage  `json:"instruments"`
	Data        string           `json:"data"`
	Budget      string           `json:"budget"`
	Accounts    []wire.AccountID `json:"accounts"`
	Params      json.RawMessage  `json:"params"`
	WarmUp      string           `json:"warm_up"`
}

// Options of a strategy's process; empty ones come from the environment and the platform file.
type Options struct {
	Instance string
	Node     string
	Symbols  []string
	// Params go over those of the platform file; values are JSON.
	Params map[string]json.RawMessage
}

// Main is the whole main of a strategy's program. Parameters of the platform file are read over the defaults, by their
// JSON names; one that Parameters does not have is an error.
func Main[Parameters any](defaults Parameters, create func(Parameters) (Strategy, error)) {
	log.SetFlags(0)
	log.SetOutput(node.LogWriter{Target: target})
	options, err := parseOptions(os.Args)
	if err == nil {
		err = Run(options, defaults, create)
	}
	if errors.Is(err, errHelp) {
		return
	}
	if err != nil {
		node.Log(node.LevelError, target, err.Error())
		os.Exit(node.CodeOf(err))
	}
}

// Run joins the platform and runs the strategy to its end, for programs that have a command line of their own.
func Run[Parameters any](options Options, defaults Parameters, create func(Parameters) (Strategy, error)) error {
	instance, name := given(options.Instance, "COLO_INSTANCE"), given(options.Node, "COLO_NODE")
	if instance == "" || name == "" {
		return usage("which instance and which node? --instance and --node say it, or COLO_INSTANCE and COLO_NODE")
	}
	joined, err := node.Join(instance, name)
	if err != nil {
		return err
	}
	p, err := newProcess(joined, options, func(text json.RawMessage) (Strategy, error) {
		parameters := defaults
		if err := readParams(text, &parameters); err != nil {
			return nil, err
		}
		return create(parameters)
	})
	if err != nil {
		joined.Abandon(err)
		return err
	}
	return joined.Run(p)
}

func given(option, variable string) string {
	if option != "" {
		return option
	}
	return os.Getenv(variable)
}

func usage(format string, args ...any) error {
	return &node.Error{Code: node.ExitUsage, Err: fmt.Errorf(format, args...)}
}

// process runs one strategy on its node.
type process struct {
	*session
	node        *node.Node
	output      *node.Output
	roles       []role
	instruments int
	listEnd     uint64
	ledger      int64
	depths      *journal.Latest
	accounts    *journal.Latest
	budget      uint64
	overruns    uint64
	saidDue     uint64
	message     [512]byte
}

func newProcess(n *node.Node, options Options, create func(json.RawMessage) (Strategy, error)) (*process, error) {
	a := n.Assignment
	if a.Kind != "strategy" || a.RecordedClock {
		return nil, usage("node `%s` is a %s: this library runs one strategy in a process of its own, on a living platform; "+
			"take `host` out of its group", a.Node, a.Kind)
	}
	var s section
	if err := n.Section(&s); err != nil {
		return nil, usage("the section of node `%s`: %w", a.Node, err)
	}
	if s.WarmUp != "" {
		return nil, usage("node `%s` has warm_up = \"%s\": this library has no warm-up; take it out of its group", a.Node, s.WarmUp)
	}
	params, err := merged(s.Params, options.Params)
	if err != nil {
		return nil, err
	}
	strategy, err := create(params)
	if err != nil {
		return nil, usage("node `%s`: %w", a.Node, err)
	}
	p := &process{node: n, output: n.OutputOf("orders"), instruments: n.InputOf("instruments"), ledger: -1}
	if p.output == nil || p.instruments < 0 || n.InputOf("reports") < 0 {
		return nil, usage("node `%s` has no orders, instruments or reports: is it a strategy?", a.Node)
	}
	for _, input := range n.Inputs {
		p.roles = append(p.roles, roles[input.Role])
		if roles[input.Role] == stateRole {
			p.ledger = int64(input.PeerSeat)
			if err := input.Narrow([]uint32{a.Seat + 1}); err != nil {
				return nil, err
			}
		}
	}
	p.listEnd = n.Inputs[p.instruments].Head()
	if err := p.resume(); err != nil {
		return nil, err
	}
	if s.Data == "best" {
		if p.depths, err = journal.OpenLatest(n.Path("md.depths")); err != nil {
			return nil, err
		}
	}
	if p.accounts, err = journal.OpenLatest(n.Path("ledger.accounts")); err != nil {
		return nil, err
	}
	if s.Budget != "" {
		if budget, err := time.ParseDuration(compact(s.Budget)); err == nil {
			p.budget = uint64(budget)
		}
	}
	symbols, robin, err := interest(s, options, strategy)
	if err != nil {
		return nil, err
	}
	p.session = newSession(strategy, setup{name: a.Node, seat: wire.StrategyID(a.Seat), generation: a.Generation,
		epoch: p.output.Epoch(), data: s.Data, deterministic: a.Deterministic, ledger: p.ledger >= 0,
		accounts: s.Accounts, symbols: symbols, robin: robin}, p)
	return p, nil
}

func compact(text string) string { return string(bytes.ReplaceAll([]byte(text), []byte(" "), nil)) }

func merged(file json.RawMessage, over map[string]json.RawMessage) (json.RawMessage, error) {
	if len(over) == 0 {
		return file, nil
	}
	table := map[string]json.RawMessage{}
	if len(file) > 0 {
		if err := json.Unmarshal(file, &table); err != nil {
			return nil, usage("`params` is no table of names and values: %w", err)
		}
	}
	for name, value := range over {
		table[name] = value
	}
	return json.Marshal(table)
}

// interest: the command line overrides the strategy's own, and that the platform file.
func interest(s section, options Options, strategy Strategy) ([]string, int, error) {
	symbols := options.Symbols
	if own, is := strategy.(Interested); is && len(symbols) == 0 {
		symbols = own.Symbols()
	}
	if len(symbols) > 0 {
		return symbols, -1, nil
	}
	var rule string
	if json.Unmarshal(s.Instruments, &rule) == nil {
		if rule == "round-robin" {
			return nil, s.Index, nil
		}
		return nil, -1, nil
	}
	if len(s.Instruments) > 0 {
		if err := json.Unmarshal(s.Instruments, &symbols); err != nil {
			return nil, -1, usage("the instruments of the strategy: %w", err)
		}
	}
	return symbols, -1, nil
}

// resume sets the counters of requests to what the journal has held: they lack a killed predecessor's last message.
func (p *process) resume() error {
	if err := p.output.CountMissed(func(frame *journal.Frame) int { return class(frame.ID) }); err != nil {
		return err
	}
	tally := p.output.Tally()
	for class, counter := range []node.Counter{node.Orders, node.Cancels, node.Replaces} {
		p.node.SetCounter(counter, tally[class])
	}
	return nil
}

// class of a request in the tally.
func class(id uint16) int {
	switch id {
	case wire.NewOrderMessageID:
		return 0
	case wire.CancelOrderMessageID, wire.CancelAllMessageID:
		return 1
	case wire.ReplaceOrderMessageID:
		return 2
	}
	return 4
}

// Turn of the node.
func (p *process) Turn() error {
	due, is := p.due()
	if is && uint64(due) <= p.node.Now() || p.context.stage == joining {
		p.turn()
		due, is = p.due()
	}
	if p.topics && p.isWhole {
		p.topics = false
		if err := p.narrow(); err != nil {
			return err
		}
	}
	if p.context.stops {
		p.node.RequestStop()
	}
	if is {
		p.node.WakeAt(uint64(due))
	}
	return nil
}

// narrow the market data to what the strategy hears. In lock-step all nodes wait until this one has read everything, which
// it would not while it sleeps over what it does not hear.
func (p *process) narrow() error {
	if p.node.Assignment.Deterministic {
		return nil
	}
	for index, role := range p.roles {
		if !role.isMarket() {
			continue
		}
		topics := []uint32{}
		if role == p.hears {
			topics = p.context.Instruments.topics()
		}
		if err := p.node.Inputs[index].Narrow(topics); err != nil {
			return err
		}
	}
	return nil
}

// InTimeOrder in lock-step: the result must not depend on which journal is read first.
func (p *process) InTimeOrder() bool { return p.node.Assignment.Deterministic }

// Accepts a frame of an input.
func (p *process) Accepts(input int, position uint64) bool {
	if input == p.instruments && !p.isWhole && position >= p.listEnd {
		p.completeList()
	}
	return p.accepts(p.roles[input])
}

// Frame of an input.
func (p *process) Frame(input int, frame *journal.Frame) error {
	received := p.node.Now()
	p.frame(p.roles[input], p.node.Inputs[input].JournalID(), frame, wire.Nanos(received))
	p.sayWhenDue()
	if p.budget > 0 {
		p.charge(p.node.Now() - received)
	}
	return nil
}

// sayWhenDue: md announces the time of the next timer before it publishes a later event.
func (p *process) sayWhenDue() {
	if due := uint64(p.marketDue()); due != p.saidDue {
		p.saidDue = due
		p.node.SetCounter(node.MarketDue, due)
	}
}

func (p *process) charge(took uint64) {
	if took <= p.budget {
		return
	}
	p.overruns++
	p.node.Count(node.Overruns, 1)
	p.node.SetCounter(node.OverrunMax, max(took, p.node.Counter(node.OverrunMax)))
	if p.overruns&(p.overruns-1) == 0 {
		p.log(node.LevelWarn, fmt.Sprintf("took %d ns for one call, its budget is %d ns (%d overruns)", took, p.budget, p.overruns))
	}
}

// Gap of an input.
func (p *process) Gap(input int, gap *journal.Gap) error {
	p.gap(p.roles[input], gap)
	return nil
}

// Stop in good order.
func (p *process) Stop() error {
	p.stop()
	return nil
}

func (p *process) now() wire.Nanos { return wire.Nanos(p.node.Now()) }

func (p *process) send(id uint16, message []byte, class int) error {
	_, err := p.output.Write(id, 0, message)
	if err == nil {
		p.output.Count(class)
		return nil
	}
	if errors.Is(err, journal.ErrFull) {
		return Full
	}
	p.log(node.LevelError, err.Error())
	return Unwritable
}

func (p *process) depth(instrument wire.InstrumentID, to *wire.Quote) error {
	if p.depths == nil {
		return ErrNotKept
	}
	found, err := p.depths.Get(uint64(instrument), p.message[:len(to.AsBytes())])
	if err != nil {
		return err
	}
	if !found {
		return ErrNothing
	}
	return to.Decode(p.message[:len(to.AsBytes())])
}

func (p *process) account(slot uint64, to *wire.AccountState) (bool, error) {
	if p.accounts == nil {
		return false, ErrNotKept
	}
	found, err := p.accounts.Get(slot, p.message[:len(to.AsBytes())])
	if err != nil || !found {
		return false, err
	}
	return true, to.Decode(p.message[:len(to.AsBytes())])
}

func (p *process) askState() {
	if p.ledger >= 0 {
		p.node.Ask(uint32(p.ledger))
	}
}

func (p *process) settleState() {
	if p.ledger >= 0 {
		p.node.Settle(uint32(p.ledger))
	}
}

func (p *process) count(counter node.Counter, amount uint64) { p.node.Count(counter, amount) }

func (p *process) log(level node.Level, text string) {
	node.Log(level, target, p.node.Assignment.Node+": "+text)
}

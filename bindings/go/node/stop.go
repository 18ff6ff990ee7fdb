package node

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"colo/journal"
)

// stopFlag is set by SIGTERM and SIGINT, which also end a sleep.
type stopFlag struct {
	asked    atomic.Bool
	mutex    sync.Mutex
	registry *journal.Registry
	seat     uint32
}

var stops struct {
	once sync.Once
	flag stopFlag
}

func installStop() *stopFlag {
	flag := &stops.flag
	stops.once.Do(func() {
		signals := make(chan os.Signal, 4)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		go func() {
			for range signals {
				flag.asked.Store(true)
				flag.mutex.Lock()
				if flag.registry != nil {
					flag.registry.Wake(flag.seat)
				}
				flag.mutex.Unlock()
			}
		}()
	})
	return flag
}

func (s *stopFlag) wakes(registry *journal.Registry, seat uint32) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.registry, s.seat = registry, seat
}

package journal

import (
	"errors"
	"fmt"
)

// Why something is refused; errors.Is tells them apart.
var (
	ErrForeign        = errors.New("is no colo journal")
	ErrVersion        = errors.New("has another format than this program knows: use programs of one build")
	ErrDamaged        = errors.New("is damaged")
	ErrReplaced       = errors.New("belongs to another journal than its control page: open it anew")
	ErrWriterExists   = errors.New("is written by another process already")
	ErrSeatTaken      = errors.New("is read in that seat by another process already")
	ErrNoSuchSeat     = errors.New("has no such seat")
	ErrNoSuchPosition = errors.New("has no such position")
	ErrNoSuchTopic    = errors.New("has no such topic")
	ErrTooLarge       = errors.New("takes no payload so large")
	ErrFull           = errors.New("is full: a gated reader holds its writer up; try again later")
	ErrBatchFull      = errors.New("takes no more in one batch: commit it and begin another")
	ErrOrderOfCalls   = errors.New("has an open batch or an older claim: commit or abandon the batch, or claim again")
	ErrReadOnly       = errors.New("is open for reading alone")
)

// Gap is what a loose reader lost; it goes on at Resumed. It is an error, so that nobody misses it.
type Gap struct {
	From    uint64
	Resumed uint64
}

// Bytes that are lost.
func (g *Gap) Bytes() uint64 { return g.Resumed - g.From }

func (g *Gap) Error() string {
	return fmt.Sprintf("the writer overtook the reader: %d bytes from position %d on are lost; read on", g.Bytes(), g.From)
}

func (j *Journal) refuse(why error, detail string, args ...any) error {
	return fmt.Errorf("journal `%s` %w (%s)", j.name, why, fmt.Sprintf(detail, args...))
}

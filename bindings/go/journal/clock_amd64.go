package journal

// counter is the time-stamp counter, read behind all loads before it.
func counter() uint64

const hasCounter = true

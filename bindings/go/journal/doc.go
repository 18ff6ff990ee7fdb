// Package journal reads and writes colo's journals: rings in shared memory with one writer and any number of readers.
//
// It is written from docs/journal-format.md, without cgo: files are mapped, words are accessed by sync/atomic, sleepers
// wait on a futex. Go's atomic operations are sequentially consistent, so the full fences of the format are in them.
//
//	loose   copies each frame, and then looks whether the writer has overwritten it meanwhile
//	gated   hands out frames in place; the writer waits for it
//	writer  commits frames, one at a time, in batches, or as records of one frame
//
// A Journal, and everything that is made of it, is for one goroutine.
package journal

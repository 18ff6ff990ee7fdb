//go:build race

package journal

import (
	"encoding/binary"
	"sync/atomic"
)

// The race detector knows nothing of loose readers, which throw a copy away that was overwritten meanwhile. Word by word
// it has nothing to complain of.

func storeBytes(w words, at uint64, payload []byte) {
	for ; len(payload) > 0 && at%8 == 0 && len(payload) >= 8; at += 8 {
		atomic.StoreUint64(&w[at/8], binary.LittleEndian.Uint64(payload))
		payload = payload[8:]
	}
	for _, byte := range payload {
		shift := at % 8 * 8
		word := atomic.LoadUint64(&w[at/8])
		atomic.StoreUint64(&w[at/8], word&^(0xff<<shift)|uint64(byte)<<shift)
		at++
	}
}

func storeWord(w words, at uint64, value uint64) { atomic.StoreUint64(&w[at/8], value) }

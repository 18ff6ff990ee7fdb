//go:build !race

package journal

// Payloads and headers are stored plainly: the commit word behind them is what orders them.

func storeBytes(w words, at uint64, payload []byte) { copy(asBytes(w)[at:], payload) }

func storeWord(w words, at uint64, value uint64) { w[at/8] = value }

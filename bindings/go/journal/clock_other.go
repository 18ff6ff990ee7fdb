//go:build !amd64

package journal

func counter() uint64 { return 0 }

const hasCounter = false

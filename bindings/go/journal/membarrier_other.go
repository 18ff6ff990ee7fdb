//go:build !amd64

package journal

// The number of the generic table, which all newer architectures have.
const sysMembarrier = 283

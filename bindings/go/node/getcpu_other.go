//go:build !amd64

package node

const sysGetcpu = 168

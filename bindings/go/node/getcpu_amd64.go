package node

const sysGetcpu = 309

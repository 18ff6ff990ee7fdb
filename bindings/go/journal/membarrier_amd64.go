package journal

const sysMembarrier = 324

package core

// Low32 masks the number of a draw to the bits that kernels take.
const Low32 = 1<<32 - 1

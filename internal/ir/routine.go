package ir

// A RoutineID says which routine of a device computes an operation that is not a loop program. The device
// has the code under it, and the Def of the operation names it.
type RoutineID uint8

const (
	NoRoutine RoutineID = iota // of operations that are loop programs

	// Products and convolutions.
	RoutineMatMul
	RoutineConv2d
	RoutineConv2dInput
	RoutineConv2dWeight

	// Attention.
	RoutineAttention
	RoutineAttentionGrad

	// Windows of pictures.
	RoutineMaxPool2d
	RoutineMaxPool2dPlace
	RoutineMaxPool2dPick
	RoutineWindowMean
	RoutineWindowSpread

	// Elements by index.
	RoutineCopy
	RoutineIndexSelect
	RoutineIndexAdd
	RoutineIndexCopy
	RoutineGather
	RoutineScatter
	RoutineScatterSum
	RoutineScatterMin
	RoutineScatterMax
	RoutineScatterProd
	RoutineRavel
	RoutinePlaces
	RoutineMaskSelect
	RoutineMaskPlace
	RoutineCountTrue
	RoutineNonZero

	// Order.
	RoutineArgMax
	RoutineArgMin
	RoutineSort
	RoutineKthValue
	RoutineTopK
	RoutineSearchSorted
	RoutineRuns
	RoutineBinCount
	RoutinePartition
	RoutineArgPartition

	// Scans.
	RoutineScanSum
	RoutineScanProd
	RoutineScanTree
	RoutineRecurrence
	RoutineCumMax
	RoutineCumMin

	// Items of lists.
	RoutineSegmentPad
	RoutineSegmentUnpad
	RoutineSegmentTake
	RoutineSegmentSort
	RoutineSegmentArgMin
	RoutineSegmentArgMax

	// Linear algebra.
	RoutineCholesky
	RoutineSolveTriangular
	RoutineLUFactor
	RoutineLUSolve
	RoutinePermutation
	RoutineSolve
	RoutineQR
	RoutineQRTriangle

	// Eigenvalues, singular values, functions of matrices.
	RoutineEigh
	RoutineEigValsH
	RoutineSVD
	RoutineSVDVals
	RoutinePInv
	RoutinePolarFactor
	RoutineNuclearNorm
	RoutineHermitianSylvester
	RoutineEig
	RoutineEigVals
	RoutineSchur
	RoutineHessenberg
	RoutineExpm
	RoutineLogm
	RoutineSqrtm
	// Linear filters.
	RoutineLFilter
	RoutineSOSFilt
	RoutineCorrelate1D
	// Fourier transforms.
	RoutineFFT
	RoutineRFFT
	RoutineIRFFT
	RoutineDCT

	// Sparse matrices.
	RoutineSparseMatMul
	RoutineSparseSampled

	// Functions of the user; functions that check a range.
	RoutineHost
	RoutineCheckRange

	NumRoutines // the number of IDs, NoRoutine among them
)

// Package weft is an array library with automatic differentiation whose
// operations run as machine code made at run time, in plain Go without cgo.
//
// A [Tensor] is an n-dimensional array. Operations are methods and chain:
//
//	y := x.T().MatMul(x).Add(1).Sqrt()
//
// A formula is compiled as one kernel by [Expr]:
//
//	z := weft.Expr("exp(-x*x) * sin(x)", weft.Vars{"x": x})
//
// Gradients are recorded for leaves marked with [Tensor.RequireGrad]:
//
//	w := weft.Randn(3).RequireGrad()
//	x.MatMul(w).Square().Mean().Backward()
//	weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) })
//
// Packages weft/nn, weft/optim, weft/data and weft/train build training on them, weft/models has
// networks that load published weights, weft/distributions is torch.distributions. weft/linalg is
// numpy.linalg, weft/fft numpy.fft, weft/polynomial numpy.polynomial. weft/special, weft/signal,
// weft/ndimage and weft/sparse are SciPy's packages of these names. weft/table groups and joins
// columns. weft/npy, weft/safetensors and weft/checkpoint keep tensors in files, weft/plot draws
// them.
//
// Memory needs no care: the collector gives back what nothing refers to any more. A [Scope]
// around a step gives its temporaries back at once, [Tensor.Release] one tensor;
// docs/memory.md says what resides and what a collection costs.
//
// A function of tensors, such as a whole step of training, becomes one program:
//
//	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor { ... })
//	loss, err := step.Call(x, y)
//
// Wrong shapes, types and ranges panic with a typed [*Error]; [Try] turns
// that into an error.
//
// Options are structs whose zero value is the default, in all packages. A field whose default
// is not 0 is a pointer, and nil stands for the default: new(0.0) is 0.
//
// A constructor makes float32, or what the Go values given say: an int makes int64. Its form that
// ends in Of takes the element type first: [Zeros] and [ZerosOf], [Arange] and [ArangeOf].
//
// The results of every operation have the same bits on every backend, instruction
// set and number of threads.
//
// # Derivatives
//
// The gradient of a real number by a complex one z = x + iy is d/dx + i d/dy. Where a function has
// no derivative, gradients are, as PyTorch's:
//
//   - Rounding, [Tensor.Sign] and [Tensor.FloorDiv]: 0 everywhere.
//   - [Tensor.Abs], [Tensor.Relu], [Tensor.Norm] and [Tensor.Std] at 0: 0. [Tensor.Sqrt] at 0: +Inf.
//   - [Tensor.Max] and [Tensor.Min]: equal extremes share the gradient evenly. [Tensor.Maximum] and
//     [Tensor.Minimum] of equal operands: half each.
//   - Selections, such as [Tensor.MaxWithIndex], [Tensor.Sort], [Tensor.Median] and [Where]: the
//     gradient goes to the element taken. [Tensor.CumMax] takes the last of equal ones.
//   - [Tensor.Clamp]: the gradient passes where x equals a bound.
//
// Second derivatives are the derivatives of these gradients. Products ([Tensor.Prod],
// [Tensor.CumProd]) are differentiated as products of the other factors, so zeros do no harm.
//
// # Map
//
// Every name of the package by its subject; "go doc weft.Tensor.Sum" says more of one.
//
// What there is:
//
//   - Tensors: [Tensor], their element types [DType], [Element], [Category]: [Bool], [Uint8],
//     [Int8], [Int16], [Int32], [Int64], [Uint16], [Uint32], [Uint64], [Float16], [BFloat16],
//     [Float32], [Float64], [Complex64], [Complex128]; [CatBool], [CatInt], [CatFloat],
//     [CatComplex]
//   - Errors: [Error], [ErrorKind], [Misuse], [OutOfMemory], [DeviceFailed], [Try]
//   - What a tensor is: [Tensor.Shape], [Tensor.Dim], [Tensor.Rank], [Tensor.Size],
//     [Tensor.DType], [Tensor.Strides], [Tensor.IsContiguous]
//   - Printed: [Tensor.String], [Tensor.Format], [Tensor.LogValue], [Tensor.MarshalJSON]
//
// From Go and back:
//
//   - Made of Go values: [From], [FromSlice], [Scalar], [ScalarOf], [Full], [FullOf],
//     [FullLike], [Arange], [ArangeOf], [Linspace], [LinspaceOf], [Logspace], [LogspaceOf], [Geomspace],
//     [GeomspaceOf], [Eye], [EyeOf], [EyeOpts], [Tri], [Indices], [Ix], [TrilIndices], [TriuIndices],
//     [Meshgrid], [Complex], [Polar]
//   - Of one number: [Zeros], [ZerosOf], [ZerosLike], [Ones], [OnesOf], [OnesLike]
//   - Read by Go: [Data], [CopyTo], [Borrow], [At], [Tensor.Item], [Tensor.ItemInt],
//     [Tensor.ItemComplex]
//   - Compared as a whole: [Digest], [DigestNamed], [Tensor.AllClose], [Tensor.ArrayEqual]
//   - Types: [PromoteTypes], [ResultType], [FInfo], [FloatInfo], [IInfo], [IntInfo]
//   - Copied: [Tensor.Clone], [Tensor.Contiguous], [Tensor.To]
//
// Parts, and writing into them:
//
//   - Parts as views: [Tensor.At], [Tensor.Rows], [Tensor.Slice], [Span], [All], [Range], [Begin], [End],
//     [Index], [NewAxis], [Ellipsis], [Tensor.Diagonal], [Tensor.Split], [Tensor.Chunk],
//     [Tensor.Unbind], [Tensor.ArraySplit], [Tensor.Real], [Tensor.Imag], [Tensor.AsStrided],
//     [Tensor.SlidingWindowView], [Tensor.ViewAs]
//   - Parts by arrays of places: [Tensor.Index], [Tensor.IndexSelect], [Tensor.Gather],
//     [Tensor.TakeAlongAxis], [Tensor.MaskSelect], [Compress], [Tensor.NonZero], [ArgWhere],
//     [UnravelIndex], [RavelMultiIndex]
//   - Written in place: [Tensor.Set], [Tensor.Assign], [Tensor.Fill], [Tensor.Zero], [Tensor.Version],
//     [Tensor.AddAssign], [Tensor.SubAssign], [Tensor.MulAssign], [Tensor.DivAssign],
//     [Tensor.Update]
//   - Written by places, as a new tensor: [Tensor.IndexPut], [Tensor.IndexPutAdd],
//     [Tensor.IndexAdd], [Tensor.Scatter], [Tensor.ScatterAdd], [Tensor.ScatterReduce],
//     [ScatterOpts], [ScatterOp], [ScatterSum], [ScatterMean], [ScatterMin],
//     [ScatterMax], [ScatterProd], [Tensor.MaskedFill], [Tensor.Insert], [Tensor.Delete], [Tensor.Append]
//
// Shapes:
//
//   - Other shapes of the same elements: [Tensor.Reshape], [Tensor.Flatten],
//     [Tensor.Unflatten], [Tensor.Squeeze], [Tensor.Unsqueeze], [Tensor.T],
//     [Tensor.Transpose], [Tensor.Permute], [Tensor.MoveAxis], [Tensor.Expand],
//     [Tensor.ExpandAs], [AlignLeading], [BroadcastShapes], [BroadcastTensors], [Tensor.AtLeast1D],
//     [Tensor.AtLeast2D], [Tensor.AtLeast3D], [Tensor.Resize]
//   - Rearranged: [Tensor.Flip], [Tensor.Roll], [Tensor.Tile], [Tensor.Repeat],
//     [Tensor.RepeatInterleave], [Tensor.Pad], [Tensor.PadMode], [PadOpts], [Tensor.Diag], [Tensor.DiagEmbed],
//     [Tensor.Tril], [Tensor.Triu], [Tensor.Rot90], [Tensor.RollAxes]
//   - Joined: [Cat], [Stack], [HStack], [VStack], [DStack], [ColumnStack]
//
// Functions of elements:
//
//   - Arithmetic: [Tensor.Add], [Tensor.Sub], [Tensor.RSub], [Tensor.Mul], [Tensor.Div],
//     [Tensor.RDiv], [Tensor.FloorDiv], [Tensor.Mod], [Tensor.Pow], [Tensor.Neg],
//     [Tensor.Reciprocal], [Tensor.Square], [Tensor.Sqrt], [Tensor.Rsqrt], [Tensor.Cbrt], [Tensor.Hypot],
//     [Tensor.Lerp], [Tensor.FMod], [Tensor.DivMod], [Tensor.GCD], [Tensor.LCM]
//   - Exponentials and logarithms: [Tensor.Exp], [Tensor.Exp2], [Tensor.Expm1], [Tensor.Log],
//     [Tensor.Log2], [Tensor.Log10], [Tensor.Log1p], [Tensor.LogAddExp], [Tensor.LogAddExp2],
//     [Tensor.Logit], [Tensor.XLogY]
//   - Angles: [Tensor.Sin], [Tensor.Cos], [Tensor.Tan], [Tensor.Asin], [Tensor.Acos],
//     [Tensor.Atan], [Tensor.Atan2], [Tensor.Sinh], [Tensor.Cosh], [Tensor.Tanh],
//     [Tensor.Asinh], [Tensor.Acosh], [Tensor.Atanh], [Tensor.Sinc], [Tensor.Degrees],
//     [Tensor.Radians]
//   - Special functions: [Tensor.Erf], [Tensor.Erfc], [Tensor.Erfinv], [Tensor.Lgamma],
//     [Tensor.Digamma], [Tensor.Trigamma]
//   - Of neural networks: [Tensor.Relu], [Tensor.Sigmoid], [Tensor.Silu], [Tensor.Gelu],
//     [Tensor.Softplus], [Tensor.Dropout]
//   - Rounded and limited: [Tensor.Round], [Tensor.Floor], [Tensor.Ceil], [Tensor.Trunc],
//     [Tensor.RoundTo], [Tensor.Abs], [Tensor.Sign], [Tensor.Heaviside], [Tensor.Clamp],
//     [Tensor.Minimum], [Tensor.Maximum], [Tensor.FMin], [Tensor.FMax]
//   - The parts of floats: [Tensor.Frexp], [Tensor.Ldexp], [Tensor.Modf], [Tensor.SignBit],
//     [Tensor.CopySign], [Tensor.NextAfter], [Tensor.Spacing]
//   - Compared: [Tensor.Eq], [Tensor.Ne], [Tensor.Lt], [Tensor.Le], [Tensor.Gt], [Tensor.Ge],
//     [Tensor.IsClose], [CloseOpts], [Tensor.IsNaN], [Tensor.IsInf], [Tensor.IsFinite],
//     [Tensor.NanToNum]
//   - Chosen: [Where], [Select], [Tensor.Choose], [Piecewise]; along an axis: [ApplyAlongAxis]
//   - Logic and bits: [Tensor.LogicalAnd], [Tensor.LogicalOr], [Tensor.LogicalXor],
//     [Tensor.LogicalNot], [Tensor.BitAnd], [Tensor.BitOr], [Tensor.BitXor], [Tensor.BitNot],
//     [Tensor.Shl], [Tensor.Shr], [Tensor.PopCount]
//   - Of complex numbers: [Tensor.Conj], [Tensor.Angle]
//
// Reductions, order, counts:
//
//   - Sums and means: [Tensor.Sum], [Tensor.SumKeep], [Tensor.Mean], [Tensor.MeanKeep],
//     [Tensor.Prod], [Tensor.ProdKeep], [Tensor.Norm], [Tensor.NormKeep]
//   - Spread: [Tensor.Var], [Tensor.VarKeep], [Tensor.Std], [Tensor.StdKeep],
//     [Tensor.SampleVar], [Tensor.SampleVarKeep], [Tensor.SampleStd], [Tensor.SampleStdKeep],
//     [Tensor.CorrectedVar], [Tensor.CorrectedVarKeep], [Tensor.CorrectedStd], [Tensor.CorrectedStdKeep],
//     [Tensor.VarMean], [Tensor.Average], [Tensor.Cov], [Tensor.CorrCoef], [CovOpts]
//   - Without NaN: [Tensor.NanSum], [Tensor.NanSumKeep], [Tensor.NanProd], [Tensor.NanProdKeep],
//     [Tensor.NanMean], [Tensor.NanMeanKeep], [Tensor.NanVar], [Tensor.NanVarKeep], [Tensor.NanStd],
//     [Tensor.NanStdKeep], [Tensor.NanSampleVar], [Tensor.NanSampleVarKeep], [Tensor.NanSampleStd],
//     [Tensor.NanSampleStdKeep], [Tensor.NanCorrectedVar], [Tensor.NanCorrectedVarKeep],
//     [Tensor.NanCorrectedStd], [Tensor.NanCorrectedStdKeep], [Tensor.NanMin], [Tensor.NanMinKeep], [Tensor.NanMax], [Tensor.NanMaxKeep],
//     [Tensor.NanArgMin], [Tensor.NanArgMinKeep], [Tensor.NanArgMax], [Tensor.NanArgMaxKeep],
//     [Tensor.NanMedian], [Tensor.NanMedianKeep], [Tensor.NanQuantile], [Tensor.NanQuantileKeep],
//     [Tensor.NanPercentile], [Tensor.NanCumSum], [Tensor.NanCumProd]
//   - Extremes: [Tensor.Max], [Tensor.MaxKeep], [Tensor.MaxWithIndex], [Tensor.ArgMax], [Tensor.ArgMaxKeep],
//     [Tensor.Min], [Tensor.MinKeep], [Tensor.MinWithIndex], [Tensor.ArgMin], [Tensor.ArgMinKeep],
//     [Tensor.AMinMax], [Tensor.Ptp]
//   - Truth: [Tensor.All], [Tensor.AllKeep], [Tensor.Any], [Tensor.AnyKeep], [Tensor.CountNonZero],
//     [Tensor.CountNonZeroKeep]
//   - Softmax: [Tensor.Softmax], [Tensor.LogSoftmax], [Tensor.LogSumExp],
//     [Tensor.LogSumExpKeep]
//   - Running: [Tensor.CumSum], [Tensor.CumProd], [Tensor.CumMax], [Tensor.CumMin], [Tensor.LogCumSumExp]
//   - Along an axis: [Tensor.Diff], [Tensor.Gradient], [GradientOpts], [Tensor.Trapezoid],
//     [Tensor.CumulativeTrapezoid], [Tensor.Simpson], [Tensor.Interp], [InterpOpts], [Tensor.Unwrap]
//   - Order: [Tensor.Sort], [Tensor.ArgSort], [SortOpts], [Tensor.TopK], [TopKOpts],
//     [Tensor.KthValue], [Tensor.Median], [Tensor.MedianKeep], [Tensor.Quantile], [Tensor.QuantileKeep], [Tensor.Quantiles], [QuantileOpts],
//     [Tensor.Percentile], [Tensor.SearchSorted], [SearchOpts], [LexSort], [Tensor.Partition],
//     [Tensor.ArgPartition]
//   - Sets: [Tensor.Unique], [UniqueAxis], [UniqueConsecutive], [Tensor.IsIn], [Union1D], [Intersect1D],
//     [SetDiff1D], [SetXor1D]
//   - Counts: [Tensor.BinCount], [Tensor.Histogram], [HistogramOpts], [HistogramDD], [HistogramDDOpts],
//     [Tensor.Digitize], [DigitizeOpts], [Tensor.Mode]
//
// Products and layers:
//
//   - Products: [Tensor.MatMul], [Tensor.Dot], [Tensor.VDot], [Tensor.Inner], [Tensor.Outer], [Tensor.TensorDot], [Einsum],
//     [Tensor.Cross], [Tensor.Trace], [Tensor.Cdist], [Tensor.Pdist],
//     [Tensor.Linear]
//   - Convolutions and pooling: [Tensor.Conv1d], [Conv1dOpts], [Tensor.Conv2d], [ConvOpts],
//     [Tensor.ConvTranspose2d], [ConvTransposeOpts], [Tensor.MaxPool2d], [Tensor.AvgPool2d],
//     [PoolOpts]
//   - Losses: [CrossEntropy]; package nn has more
//
// Gradients:
//
//   - Leaves: [Tensor.RequireGrad], [Tensor.RequiresGrad], [Tensor.IsLeaf], [Tensor.Grad],
//     [Tensor.SetGrad], [Tensor.SparseGrad], [BorrowGrad], [BorrowRows], [Tensor.Hook],
//     [Tensor.PostAccumulateGradHook]
//   - Backward: [Tensor.Backward], [BackwardWith], [Grad], [GradAll], [GradOpts]
//   - Not recorded: [WithoutGrad], [Tensor.Detach]; deprecated: [Tensor.NoGrad]; not kept: [Recompute]; in 16 bits: [Autocast]; searched for NaN: [DetectAnomaly]
//   - Of functions: [VJP], [JVP], [Jacobian], [Hessian], [HessianVector], [Vmap]; checked: [GradCheck], [GradGradCheck] with [GradCheckOpts]
//   - With a gradient of one's own: [Func], [FuncContext]
//
// Whole programs:
//
//   - Formulas: [Expr], [ParseExpr], [Formula], [Vars]
//   - Compiled functions: [Compile], [Compiled], [DebugOpts], [DebugStep],
//     [SaveOpts], [LoadProgram], [LoadOpts], [Program], [ProgramValue]
//   - Loops and branches by elements: [Cond], [While], [WhileOpts], [ScanSteps]
//   - On other devices: [Device], [MemoryStats], [CPU], [CUDA], [Devices], [DeviceByName], [Tensor.On],
//     [Tensor.Device], [Stream], [Event]
//   - Profiles: [StartProfile], [Profile], [ProfileOpts], [ProfileRow]
//
// Random numbers: [Seed], [Rand], [RandOf], [Randn], [RandnOf], [Randint], [RandintOf],
// [Randperm], [RandpermOf], [Generator], [NewGenerator], [DefaultGenerator], [GeneratorState],
// [ChoiceOpts], [MultinomialOpts]. Methods of a generator draw from
// distributions: Uniform, Normal, Exponential, Binomial, Poisson, Gamma, TruncatedNormal, Choice, Multinomial.
//
// Memory:
//
//   - Given back early: [Scope], [NewScope], [Tensor.Release]
//   - Computed late: [Tensor.Lazy]
//   - Shared by processes: [Share], [OpenShared], [Segment]
//   - Whose writes are known: [Track], [Tracked], [TrackOpts], [Cost], [Unmapped], [ByteRange],
//     [Finisher], [SinkFunc], [RectSink], [Tensor.Sink]
//
// # Compiled functions
//
// [Compile] runs a Go function once on tensors that have types and shapes and no memory, and
// notes what it does: operations, backward passes, writes, draws, updates of optimizers. What
// it noted is simplified by rules that keep every bit, planned and compiled, and calls run
// that. A call gives what the function gives, to the bit.
//
// What changes from call to call is asked for in each call. This holds for the elements of
// arguments and of captured tensors, which are read and written where they are. It also holds for
// learning rates, the numbers of steps of optimizers, schedules, and the seed and the number of
// each random draw. What is the same
// in every call is part of the program: shapes, layouts and types, Go numbers among the
// arguments, everything else that the function knows of Go. Arguments of another kind compile
// another program ([Compiled.Why]).
//
// A function that asks for elements while it is traced, to branch on them, print them or make a
// Go number of them, is refused with the line that does. [Where] and tensors of no axes
// take the place of branches and numbers; the loss is read from the result of the call.
// A tensor that a captured variable of Go has at the first call is the one that stays: a
// variable that is given another tensor later is not looked at again. Gradients pass within a
// function and not through a call.
//
// # Accuracy
//
// Mathematical functions are within 1 unit in the last place for float32 and 2 for
// float64; package weft/internal/vmath lists the worst case of each.
//
// A sum is off by at most h*u/(1-h*u) times the sum of the magnitudes, where u is
// 2^-24 for float32 and 2^-53 for float64, and h counts the additions that an
// element passes through, unless one overflows. Over the last axes, n elements in
// all, h is at most
//
//	69 + log2(n/4096) for float32, 132 + log2(n/4096) for float64
//
// with the logarithm rounded up and at least 0; over axes that others follow it is
// 15 + log2(n/16) for both. A sum over axes of both kinds, or with others between
// them, adds the h of each group of neighbours. One accumulator would have h = n-1.
package weft

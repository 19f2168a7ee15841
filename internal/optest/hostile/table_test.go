package hostile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/dlpack"
	"weft/half"
	"weft/kernel"
	"weft/npy"
	"weft/optim"
	"weft/ragged"
	"weft/records"
	"weft/safetensors"
	"weft/sym"
)

// A row is an entry of the tables below; as a list they change line by line.
type row[T any] struct {
	name string
	is   T
}

func rows[T any](list []row[T]) map[string]T {
	m := map[string]T{}
	for _, r := range list {
		m[r.name] = r.is
	}
	return m
}

// functions are the exported functions of the module, generic ones for each of their
// types. TestTableListsExports compares the names with the source.
var functions = rows(slices.Concat(imageFunctions, nnFunctions, modelFunctions, foreignFunctions, trainingFunctions, distributionFunctions, fitFunctions, tableFunctions, transformFunctions, linalgFunctions, signalFunctions, sparseFunctions, fftFunctions, spectralFunctions, polynomialFunctions, specialFunctions, []row[any]{
	{"weft.AlignLeading", weft.AlignLeading},
	{"weft.ApplyAlongAxis", weft.ApplyAlongAxis},
	{"weft.ArgWhere", weft.ArgWhere},
	{"weft.BroadcastShapes", weft.BroadcastShapes},
	{"weft.BroadcastTensors", weft.BroadcastTensors},
	{"weft.ColumnStack", weft.ColumnStack},
	{"weft.Compress", weft.Compress},
	{"weft.DStack", weft.DStack},
	{"weft.FInfo", weft.FInfo},
	{"weft.Geomspace", weft.Geomspace},
	{"weft.GeomspaceOf", weft.GeomspaceOf},
	{"weft.HistogramDD", weft.HistogramDD},
	{"weft.IInfo", weft.IInfo},
	{"weft.Indices", weft.Indices},
	{"weft.Intersect1D", weft.Intersect1D},
	{"weft.Ix", weft.Ix},
	{"weft.LexSort", weft.LexSort},
	{"weft.Logspace", weft.Logspace},
	{"weft.LogspaceOf", weft.LogspaceOf},
	{"weft.Piecewise", weft.Piecewise},
	{"weft.PromoteTypes", weft.PromoteTypes},
	{"weft.RavelMultiIndex", weft.RavelMultiIndex},
	{"weft.ResultType", weft.ResultType},
	{"weft.Select", weft.Select},
	{"weft.SetDiff1D", weft.SetDiff1D},
	{"weft.SetXor1D", weft.SetXor1D},
	{"weft.Tri", weft.Tri},
	{"weft.TrilIndices", weft.TrilIndices},
	{"weft.TriuIndices", weft.TriuIndices},
	{"weft.Union1D", weft.Union1D},
	{"weft.UniqueAxis", weft.UniqueAxis},
	{"weft.UniqueConsecutive", weft.UniqueConsecutive},
	{"weft.UnravelIndex", weft.UnravelIndex},
	{"weft.Arange[int]", weft.Arange[int]},
	{"weft.Arange[float64]", weft.Arange[float64]},
	{"weft.ArangeOf[int]", weft.ArangeOf[int]},
	{"weft.ArangeOf[float64]", weft.ArangeOf[float64]},
	{"weft.BackwardWith", weft.BackwardWith},
	{"weft.BorrowGrad", weft.BorrowGrad},
	{"weft.BorrowRows", weft.BorrowRows},
	{"weft.Cat", weft.Cat},
	{"weft.Compile[func(*weft.Tensor) *weft.Tensor]", weft.Compile[func(*weft.Tensor) *weft.Tensor]},
	{"weft.Complex", weft.Complex},
	{"weft.Cond", weft.Cond},
	{"weft.CrossEntropy", weft.CrossEntropy},
	{"weft.DefaultGenerator", weft.DefaultGenerator},
	{"weft.Digest", weft.Digest},
	{"weft.DigestNamed", weft.DigestNamed},
	{"weft.Einsum", weft.Einsum},
	{"weft.Expr", weft.Expr},
	{"weft.Eye", weft.Eye},
	{"weft.EyeOf", weft.EyeOf},
	{"weft.From", weft.From},
	{"weft.Full", weft.Full},
	{"weft.FullOf", weft.FullOf},
	{"weft.FullLike", weft.FullLike},
	{"weft.Grad", weft.Grad},
	{"weft.GradAll", weft.GradAll},
	{"weft.HStack", weft.HStack},
	{"weft.Hessian", weft.Hessian},
	{"weft.HessianVector", weft.HessianVector},
	{"weft.Index", weft.Index},
	{"weft.JVP", weft.JVP},
	{"weft.Jacobian", weft.Jacobian},
	{"weft.Linspace", weft.Linspace},
	{"weft.LinspaceOf", weft.LinspaceOf},
	{"weft.Meshgrid", weft.Meshgrid},
	{"weft.NewGenerator", weft.NewGenerator},
	{"weft.NewScope", weft.NewScope},
	{"weft.StartProfile", weft.StartProfile},
	{"weft.Ones", weft.Ones},
	{"weft.OnesLike", weft.OnesLike},
	{"weft.OnesOf", weft.OnesOf},
	{"weft.ParseExpr", weft.ParseExpr},
	{"weft.LoadProgram", weft.LoadProgram},
	{"weft.Polar", weft.Polar},
	{"weft.Rand", weft.Rand},
	{"weft.RandOf", weft.RandOf},
	{"weft.Randint", weft.Randint},
	{"weft.RandintOf", weft.RandintOf},
	{"weft.Randn", weft.Randn},
	{"weft.RandnOf", weft.RandnOf},
	{"weft.Randperm", weft.Randperm},
	{"weft.RandpermOf", weft.RandpermOf},
	{"weft.Range", weft.Range},
	{"weft.Scalar", weft.Scalar},
	{"weft.ScalarOf", weft.ScalarOf},
	{"weft.RectSink", weft.RectSink},
	{"weft.ScanSteps", scanSteps},
	{"weft.Seed", weft.Seed},
	{"weft.OpenShared", weft.OpenShared},
	{"weft.Autocast", weft.Autocast},
	{"weft.DetectAnomaly", weft.DetectAnomaly},
	{"weft.GradCheck", weft.GradCheck[*weft.Tensor]},
	{"weft.GradGradCheck", weft.GradGradCheck[*weft.Tensor]},
	{"weft.Recompute", func(x *weft.Tensor) *weft.Tensor { return weft.Recompute((*weft.Tensor).Exp)(x) }},
	{"weft.Share", shared},
	{"weft.Stack", weft.Stack},
	{"weft.Track", weft.Track},
	{"weft.Try", weft.Try},
	{"weft.VJP", weft.VJP},
	{"weft.VStack", weft.VStack},
	{"weft.Vmap", weft.Vmap},
	{"weft.WithoutGrad", weft.WithoutGrad},
	{"weft.Where", weft.Where},
	{"weft.While", while},
	{"weft.Zeros", weft.Zeros},
	{"weft.ZerosLike", weft.ZerosLike},
	{"weft.ZerosOf", weft.ZerosOf},
	{"kernel.Beta", kernel.Beta},
	{"kernel.Digamma", kernel.Digamma},
	{"kernel.Erfcx", kernel.Erfcx},
	{"kernel.GammaInc", kernel.GammaInc},
	{"kernel.GammaIncC", kernel.GammaIncC},
	{"kernel.LogBeta", kernel.LogBeta},
	{"kernel.MapReduce", kernel.MapReduce},
	{"kernel.Max", kernel.Max[float32]},
	{"kernel.Mean", kernel.Mean[float32]},
	{"kernel.Median", kernel.Median[float64]},
	{"kernel.Min", kernel.Min[int32]},
	{"kernel.MustParse", kernel.MustParse},
	{"kernel.PageMap", kernel.PageMap},
	{"kernel.Parse", kernel.Parse},
	{"kernel.ParseFS", kernel.ParseFS},
	{"kernel.Sum", kernel.Sum[float64]},
	{"kernel.Trigamma", kernel.Trigamma},
	{"dlpack.Export", exportedTo},
	{"dlpack.Import", imported},
	{"half.NewBFloat16", half.NewBFloat16[float64]},
	{"half.NewFloat16", half.NewFloat16[float64]},
	{"weft.CUDA", weft.CUDA},
	{"weft.DeviceByName", weft.DeviceByName},
	{"weft.Devices", weft.Devices},
	{"optim.ClipNorm", optim.ClipNorm},
	{"optim.ClipValue", optim.ClipValue},
	{"optim.NewAdagrad", optim.NewAdagrad},
	{"optim.NewAdam", optim.NewAdam},
	{"optim.NewLBFGS", optim.NewLBFGS},
	{"optim.NewNAdam", optim.NewNAdam},
	{"optim.NewPlateau", optim.NewPlateau},
	{"optim.NewRMSprop", optim.NewRMSprop},
	{"optim.NewScheduler", optim.NewScheduler},
	{"optim.NewSGD", optim.NewSGD},
	{"data.NewLoader", data.NewLoader},
	{"data.Tensors", data.Tensors},
	{"checkpoint.Generator", checkpoint.Generator},
	{"checkpoint.Load", checkpoint.Load},
	{"checkpoint.Module", checkpoint.Module},
	{"checkpoint.Save", checkpoint.Save},
	{"npy.Map", npy.Map},
	{"npy.MapColumns", npy.MapColumns},
	{"npy.MapRecords", npy.MapRecords},
	{"npy.OpenArchive", npy.OpenArchive},
	{"npy.Read", npy.Read},
	{"npy.ReadArchive", npy.ReadArchive},
	{"npy.ReadArchiveFile", npy.ReadArchiveFile},
	{"npy.ReadColumns", npy.ReadColumns},
	{"npy.ReadColumnsFile", npy.ReadColumnsFile},
	{"npy.ReadFile", npy.ReadFile},
	{"npy.ReadRecords", npy.ReadRecords},
	{"npy.ReadRecordsFile", npy.ReadRecordsFile},
	{"npy.Write", npy.Write},
	{"npy.WriteArchive", npy.WriteArchive},
	{"npy.WriteArchiveFile", npy.WriteArchiveFile},
	{"npy.WriteColumns", npy.WriteColumns},
	{"npy.WriteColumnsFile", npy.WriteColumnsFile},
	{"npy.WriteFile", npy.WriteFile},
	{"npy.WriteRecords", npy.WriteRecords},
	{"npy.WriteRecordsFile", npy.WriteRecordsFile},
	{"ragged.Attention", ragged.Attention},
	{"ragged.Concat", ragged.Concat},
	{"ragged.Empty", ragged.Empty},
	{"ragged.Expr", ragged.Expr},
	{"ragged.FromOffsets", ragged.FromOffsets},
	{"ragged.FromPadded", ragged.FromPadded},
	{"ragged.FromSizes", ragged.FromSizes},
	{"ragged.EmptyRecords", ragged.EmptyRecords},
	{"ragged.NewCollection", ragged.NewCollection},
	{"ragged.Of", ragged.Of},
	{"ragged.OfRecords", ragged.OfRecords},
	{"ragged.RecordsFromSizes", ragged.RecordsFromSizes},
	{"ragged.ReadFile", ragged.ReadFile},
	{"ragged.WriteFile", ragged.WriteFile},
	{"ragged.Zip", ragged.Zip},
	{"records.Aligned", records.Aligned},
	{"records.Borrow", records.Borrow[hostileRecord]},
	{"records.Cat", records.Cat},
	{"records.Data", records.Data[hostileRecord]},
	{"records.From", records.From},
	{"records.FromSlice", records.FromSlice[hostileRecord]},
	{"records.LayoutOf", records.LayoutOf[hostileRecord]},
	{"records.Over", records.Over},
	{"records.Packed", records.Packed},
	{"records.Zeros", records.Zeros},
	{"safetensors.Map", safetensors.Map},
	{"safetensors.Open", safetensors.Open},
	{"safetensors.Read", safetensors.Read},
	{"safetensors.ReadFile", safetensors.ReadFile},
	{"safetensors.Write", safetensors.Write},
	{"safetensors.WriteFile", safetensors.WriteFile},
	{"sym.Assert", sym.Assert},
	{"sym.Cat", sym.Cat},
	{"sym.Col", sym.Col},
	{"sym.Complex", sym.Complex},
	{"sym.Const", sym.Const},
	{"sym.CrossEntropy", sym.CrossEntropy},
	{"sym.DOT", sym.DOT},
	{"sym.DebugPrint", sym.DebugPrint},
	{"sym.DisconnectedGrad", sym.DisconnectedGrad},
	{"sym.Einsum", sym.Einsum},
	{"sym.Excluding", sym.Excluding},
	{"sym.Expr", sym.Expr},
	{"sym.FullLike", sym.FullLike},
	{"sym.Arange", sym.Arange},
	{"sym.Eye", sym.Eye},
	{"sym.EyeOf", sym.EyeOf},
	{"sym.Full", sym.Full},
	{"sym.FullOf", sym.FullOf},
	{"sym.Ones", sym.Ones},
	{"sym.OnesOf", sym.OnesOf},
	{"sym.Zeros", sym.Zeros},
	{"sym.ZerosOf", sym.ZerosOf},
	{"sym.Function", sym.Function},
	{"sym.Grad", sym.Grad},
	{"sym.GradClip", sym.GradClip},
	{"sym.GradScale", sym.GradScale},
	{"sym.HStack", sym.HStack},
	{"sym.Hessian", sym.Hessian},
	{"sym.HessianVector", sym.HessianVector},
	{"sym.In", sym.In},
	{"sym.Including", sym.Including},
	{"sym.Jacobian", sym.Jacobian},
	{"sym.Lop", sym.Lop},
	{"sym.Matrix", sym.Matrix},
	{"sym.Meshgrid", sym.Meshgrid},
	{"sym.New", sym.New},
	{"sym.NewMRGStreams", sym.NewMRGStreams},
	{"sym.NewRandomStreams", sym.NewRandomStreams},
	{"sym.Object", sym.Object},
	{"sym.OnesLike", sym.OnesLike},
	{"sym.OpFromGraph", sym.OpFromGraph},
	{"sym.Out", sym.Out},
	{"sym.OutFields", sym.OutFields},
	{"sym.Polar", sym.Polar},
	{"sym.Print", sym.Print},
	{"sym.Range", sym.Range},
	{"sym.Pretty", sym.Pretty},
	{"sym.Replace", sym.Replace},
	{"sym.Rop", sym.Rop},
	{"sym.Row", sym.Row},
	{"sym.Rules", sym.Rules},
	{"sym.Scalar", sym.Scalar},
	{"sym.Shared", sym.Shared},
	{"sym.SharedObject", sym.SharedObject},
	{"sym.Stack", sym.Stack},
	{"sym.Tensor3", sym.Tensor3},
	{"sym.Tensor4", sym.Tensor4},
	{"sym.Tensor5", sym.Tensor5},
	{"sym.Tensor6", sym.Tensor6},
	{"sym.Tensor7", sym.Tensor7},
	{"sym.VStack", sym.VStack},
	{"sym.Vector", sym.Vector},
	{"sym.Vmap", sym.Vmap},
	{"sym.Where", sym.Where},
	{"sym.VerifyGrad", sym.VerifyGrad},
	{"sym.ZeroGrad", sym.ZeroGrad},
	{"sym.FoldL", sym.FoldL},
	{"sym.FoldR", sym.FoldR},
	{"sym.IfElse", sym.IfElse},
	{"sym.Map", sym.Map},
	{"sym.Reduce", sym.Reduce},
	{"sym.Scan", sym.Scan},
	{"sym.ZerosLike", sym.ZerosLike},
}))

// shared is weft.Share, leaving no name behind.
func shared(name string, bytes int) (*weft.Segment, error) {
	s, err := weft.Share(name, bytes)
	if err != nil {
		return nil, err
	}
	return s, s.Unlink()
}

// exportedTo is dlpack.Export, with a deleter that nobody calls.
func exportedTo(t *weft.Tensor, unversioned bool) error {
	m, err := dlpack.Export(t, dlpack.ExportOpts{Unversioned: unversioned, Deleter: unsafe.Pointer(new(byte))})
	if err == nil {
		m.Free()
	}
	return err
}

// imported is dlpack.Import of what dlpack.Export gave.
func imported(t *weft.Tensor, unversioned bool) (*weft.Tensor, error) {
	m, err := dlpack.Export(t, dlpack.ExportOpts{Unversioned: unversioned, Deleter: unsafe.Pointer(new(byte))})
	if err != nil {
		return nil, err
	}
	return dlpack.Import(m.Pointer(), dlpack.ImportOpts{Unversioned: unversioned, Delete: func(_, _ unsafe.Pointer) { m.Free() }})
}

// element adds the functions that are generic over the Go types of elements, of
// tensors of type d.
func element[T weft.Element](d weft.DType) {
	if !d.Supported() {
		return
	}
	name := fmt.Sprintf("[%T]", *new(T))
	functions["weft.At"+name] = weft.At[T]
	functions["weft.Borrow"+name] = weft.Borrow[T]
	functions["weft.CopyTo"+name] = weft.CopyTo[T]
	functions["weft.Data"+name] = weft.Data[T]
	functions["weft.FromSlice"+name] = weft.FromSlice[T]
	elements[T](d)
}

// scanSteps is weft.ScanSteps of few steps, and while is weft.While that ends.
func scanSteps(n int, step func(i *weft.Tensor, state []*weft.Tensor) (next, out []*weft.Tensor), init []*weft.Tensor) (last, outs []*weft.Tensor) {
	return weft.ScanSteps(min(n, 50), step, init)
}

func while(cond func(s []*weft.Tensor) *weft.Tensor, body func(s []*weft.Tensor) []*weft.Tensor, init []*weft.Tensor, opts ...weft.WhileOpts) []*weft.Tensor {
	if len(opts) == 0 {
		opts = []weft.WhileOpts{{Max: 20}}
	}
	if opts[0].Max == 0 || opts[0].Max > 50 {
		opts[0].Max = 20
	}
	return weft.While(cond, body, init, opts...)
}

// types are the exported types of the module; all their methods are called.
var types = rows(slices.Concat(imageTypes, nnTypes, modelTypes, foreignTypes, trainingTypes, distributionTypes, fitTypes, tableTypes, transformTypes, linalgTypes, signalTypes, sparseTypes, fftTypes, spectralTypes, polynomialTypes, []row[reflect.Type]{
	{"weft.ByteRange", reflect.TypeFor[weft.ByteRange]()},
	{"weft.ChoiceOpts", reflect.TypeFor[weft.ChoiceOpts]()},
	{"weft.CloseOpts", reflect.TypeFor[weft.CloseOpts]()},
	{"weft.Cost", reflect.TypeFor[weft.Cost]()},
	{"weft.Device", reflect.TypeFor[weft.Device]()},
	{"weft.MemoryStats", reflect.TypeFor[weft.MemoryStats]()},
	{"weft.SinkFunc", reflect.TypeFor[weft.SinkFunc]()},
	{"weft.Finisher", reflect.TypeFor[weft.Finisher]()},
	{"weft.GradCheckOpts", reflect.TypeFor[weft.GradCheckOpts]()},
	{"weft.WhileOpts", reflect.TypeFor[weft.WhileOpts]()},
	{"weft.TrackOpts", reflect.TypeFor[weft.TrackOpts]()},
	{"weft.Tracked", reflect.TypeFor[weft.Tracked]()},
	{"weft.ConvOpts", reflect.TypeFor[weft.ConvOpts]()},
	{"weft.Conv1dOpts", reflect.TypeFor[weft.Conv1dOpts]()},
	{"weft.ConvTransposeOpts", reflect.TypeFor[weft.ConvTransposeOpts]()},
	{"weft.DType", reflect.TypeFor[weft.DType]()},
	{"weft.Category", reflect.TypeFor[weft.Category]()},
	{"weft.ErrorKind", reflect.TypeFor[weft.ErrorKind]()},
	{"weft.DebugOpts", reflect.TypeFor[weft.DebugOpts]()},
	{"weft.DebugStep", reflect.TypeFor[weft.DebugStep]()},
	{"weft.Error", reflect.TypeFor[weft.Error]()},
	{"weft.SaveOpts", reflect.TypeFor[weft.SaveOpts]()},
	{"weft.LoadOpts", reflect.TypeFor[weft.LoadOpts]()},
	{"weft.Program", reflect.TypeFor[weft.Program]()},
	{"weft.ProgramValue", reflect.TypeFor[weft.ProgramValue]()},
	{"weft.Compiled", reflect.TypeFor[weft.Compiled[func(*weft.Tensor) *weft.Tensor]]()},
	{"weft.Formula", reflect.TypeFor[weft.Formula]()},
	{"weft.Func", reflect.TypeFor[weft.Func]()},
	{"weft.FuncContext", reflect.TypeFor[weft.FuncContext]()},
	{"weft.Generator", reflect.TypeFor[weft.Generator]()},
	{"weft.GeneratorState", reflect.TypeFor[weft.GeneratorState]()},
	{"weft.GradOpts", reflect.TypeFor[weft.GradOpts]()},
	{"weft.CovOpts", reflect.TypeFor[weft.CovOpts]()},
	{"weft.DigitizeOpts", reflect.TypeFor[weft.DigitizeOpts]()},
	{"weft.FloatInfo", reflect.TypeFor[weft.FloatInfo]()},
	{"weft.EyeOpts", reflect.TypeFor[weft.EyeOpts]()},
	{"weft.PadOpts", reflect.TypeFor[weft.PadOpts]()},
	{"weft.InterpOpts", reflect.TypeFor[weft.InterpOpts]()},
	{"weft.GradientOpts", reflect.TypeFor[weft.GradientOpts]()},
	{"weft.HistogramDDOpts", reflect.TypeFor[weft.HistogramDDOpts]()},
	{"weft.IntInfo", reflect.TypeFor[weft.IntInfo]()},
	{"weft.HistogramOpts", reflect.TypeFor[weft.HistogramOpts]()},
	{"weft.MultinomialOpts", reflect.TypeFor[weft.MultinomialOpts]()},
	{"weft.PoolOpts", reflect.TypeFor[weft.PoolOpts]()},
	{"weft.SortOpts", reflect.TypeFor[weft.SortOpts]()},
	{"weft.QuantileOpts", reflect.TypeFor[weft.QuantileOpts]()},
	{"weft.SearchOpts", reflect.TypeFor[weft.SearchOpts]()},
	{"weft.ScatterOp", reflect.TypeFor[weft.ScatterOp]()},
	{"weft.ScatterOpts", reflect.TypeFor[weft.ScatterOpts]()},
	{"weft.Profile", reflect.TypeFor[weft.Profile]()},
	{"weft.ProfileOpts", reflect.TypeFor[weft.ProfileOpts]()},
	{"weft.ProfileRow", reflect.TypeFor[weft.ProfileRow]()},
	{"weft.Scope", reflect.TypeFor[weft.Scope]()},
	{"weft.Stream", reflect.TypeFor[weft.Stream]()},
	{"weft.Event", reflect.TypeFor[weft.Event]()},
	{"weft.Segment", reflect.TypeFor[weft.Segment]()},
	{"weft.Span", reflect.TypeFor[weft.Span]()},
	{"weft.Tensor", reflect.TypeFor[weft.Tensor]()},
	{"weft.TopKOpts", reflect.TypeFor[weft.TopKOpts]()},
	{"weft.Vars", reflect.TypeFor[weft.Vars]()},
	{"dlpack.ExportOpts", reflect.TypeFor[dlpack.ExportOpts]()},
	{"dlpack.ImportOpts", reflect.TypeFor[dlpack.ImportOpts]()},
	{"dlpack.Managed", reflect.TypeFor[dlpack.Managed]()},
	{"half.BFloat16", reflect.TypeFor[half.BFloat16]()},
	{"half.Float16", reflect.TypeFor[half.Float16]()},
	{"optim.Adagrad", reflect.TypeFor[optim.Adagrad]()},
	{"optim.AdagradOpts", reflect.TypeFor[optim.AdagradOpts]()},
	{"optim.Adam", reflect.TypeFor[optim.Adam]()},
	{"optim.AdamOpts", reflect.TypeFor[optim.AdamOpts]()},
	{"optim.Cosine", reflect.TypeFor[optim.Cosine]()},
	{"optim.Exponential", reflect.TypeFor[optim.Exponential]()},
	{"optim.LBFGS", reflect.TypeFor[optim.LBFGS]()},
	{"optim.LBFGSOpts", reflect.TypeFor[optim.LBFGSOpts]()},
	{"optim.Lambda", reflect.TypeFor[optim.Lambda]()},
	{"optim.Linear", reflect.TypeFor[optim.Linear]()},
	{"optim.Method", reflect.TypeFor[optim.Method[optim.SGDOpts]]()},
	{"optim.MultiStep", reflect.TypeFor[optim.MultiStep]()},
	{"optim.NAdam", reflect.TypeFor[optim.NAdam]()},
	{"optim.NAdamOpts", reflect.TypeFor[optim.NAdamOpts]()},
	{"optim.OneCycle", reflect.TypeFor[optim.OneCycle]()},
	{"optim.Optimizer", reflect.TypeFor[optim.Optimizer]()},
	{"optim.Plateau", reflect.TypeFor[optim.Plateau]()},
	{"optim.PlateauOpts", reflect.TypeFor[optim.PlateauOpts]()},
	{"optim.RMSprop", reflect.TypeFor[optim.RMSprop]()},
	{"optim.RMSpropOpts", reflect.TypeFor[optim.RMSpropOpts]()},
	{"optim.Rated", reflect.TypeFor[optim.Rated]()},
	{"optim.Schedule", reflect.TypeFor[optim.Schedule]()},
	{"optim.Scheduler", reflect.TypeFor[optim.Scheduler]()},
	{"optim.Sequence", reflect.TypeFor[optim.Sequence]()},
	{"optim.StepDecay", reflect.TypeFor[optim.StepDecay]()},
	{"optim.SGD", reflect.TypeFor[optim.SGD]()},
	{"optim.SGDOpts", reflect.TypeFor[optim.SGDOpts]()},
	{"optim.StateError", reflect.TypeFor[optim.StateError]()},
	{"kernel.Benchmark", reflect.TypeFor[kernel.Benchmark]()},
	{"kernel.Border", reflect.TypeFor[kernel.Border]()},
	{"kernel.Elem", reflect.TypeFor[kernel.Elem]()},
	{"kernel.Error", reflect.TypeFor[kernel.Error]()},
	{"kernel.Func", reflect.TypeFor[kernel.Func]()},
	{"kernel.IterateOpts", reflect.TypeFor[kernel.IterateOpts]()},
	{"kernel.MapOpts", reflect.TypeFor[kernel.MapOpts]()},
	{"kernel.PageOp", reflect.TypeFor[kernel.PageOp]()},
	{"kernel.PageOpts", reflect.TypeFor[kernel.PageOpts]()},
	{"kernel.Paged", reflect.TypeFor[kernel.Paged]()},
	{"kernel.ReduceOpts", reflect.TypeFor[kernel.ReduceOpts]()},
	{"kernel.ScanOpts", reflect.TypeFor[kernel.ScanOpts]()},
	{"kernel.Seq", reflect.TypeFor[kernel.Seq[float32]]()},
	{"kernel.Source", reflect.TypeFor[kernel.Source]()},
	{"kernel.StencilOpts", reflect.TypeFor[kernel.StencilOpts]()},
	{"kernel.Near1", reflect.TypeFor[kernel.Near1[float32]]()},
	{"kernel.Near2", reflect.TypeFor[kernel.Near2[float32]]()},
	{"kernel.Near3", reflect.TypeFor[kernel.Near3[float32]]()},
	{"kernel.Near4", reflect.TypeFor[kernel.Near4[float32]]()},
	{"kernel.Near5", reflect.TypeFor[kernel.Near5[float32]]()},
	{"kernel.Near6", reflect.TypeFor[kernel.Near6[float32]]()},
	{"kernel.Array1", reflect.TypeFor[kernel.Array1[float32]]()},
	{"kernel.Array2", reflect.TypeFor[kernel.Array2[float32]]()},
	{"kernel.Array3", reflect.TypeFor[kernel.Array3[float32]]()},
	{"kernel.Array4", reflect.TypeFor[kernel.Array4[float32]]()},
	{"kernel.Array5", reflect.TypeFor[kernel.Array5[float32]]()},
	{"kernel.Array6", reflect.TypeFor[kernel.Array6[float32]]()},
	{"kernel.Clamped1", reflect.TypeFor[kernel.Clamped1[float32]]()},
	{"kernel.Clamped2", reflect.TypeFor[kernel.Clamped2[float32]]()},
	{"kernel.Clamped3", reflect.TypeFor[kernel.Clamped3[float32]]()},
	{"kernel.Clamped4", reflect.TypeFor[kernel.Clamped4[float32]]()},
	{"kernel.Clamped5", reflect.TypeFor[kernel.Clamped5[float32]]()},
	{"kernel.Clamped6", reflect.TypeFor[kernel.Clamped6[float32]]()},
	{"kernel.Wrapped1", reflect.TypeFor[kernel.Wrapped1[float32]]()},
	{"kernel.Wrapped2", reflect.TypeFor[kernel.Wrapped2[float32]]()},
	{"kernel.Wrapped3", reflect.TypeFor[kernel.Wrapped3[float32]]()},
	{"kernel.Wrapped4", reflect.TypeFor[kernel.Wrapped4[float32]]()},
	{"kernel.Wrapped5", reflect.TypeFor[kernel.Wrapped5[float32]]()},
	{"kernel.Wrapped6", reflect.TypeFor[kernel.Wrapped6[float32]]()},
	{"kernel.Zeroed1", reflect.TypeFor[kernel.Zeroed1[float32]]()},
	{"kernel.Zeroed2", reflect.TypeFor[kernel.Zeroed2[float32]]()},
	{"kernel.Zeroed3", reflect.TypeFor[kernel.Zeroed3[float32]]()},
	{"kernel.Zeroed4", reflect.TypeFor[kernel.Zeroed4[float32]]()},
	{"kernel.Zeroed5", reflect.TypeFor[kernel.Zeroed5[float32]]()},
	{"kernel.Zeroed6", reflect.TypeFor[kernel.Zeroed6[float32]]()},
	{"data.Batch", reflect.TypeFor[data.Batch]()},
	{"data.Batcher", reflect.TypeFor[data.Batcher]()},
	{"data.Dataset", reflect.TypeFor[data.Dataset]()},
	{"data.Loader", reflect.TypeFor[data.Loader]()},
	{"data.LoaderOpts", reflect.TypeFor[data.LoaderOpts]()},
	{"checkpoint.Part", reflect.TypeFor[checkpoint.Part]()},
	{"checkpoint.PartError", reflect.TypeFor[checkpoint.PartError]()},
	{"checkpoint.Parts", reflect.TypeFor[checkpoint.Parts]()},
	{"npy.Archive", reflect.TypeFor[npy.Archive]()},
	{"npy.ArchiveOpts", reflect.TypeFor[npy.ArchiveOpts]()},
	{"npy.Column", reflect.TypeFor[npy.Column]()},
	{"npy.MapMode", reflect.TypeFor[npy.MapMode]()},
	{"npy.FormatError", reflect.TypeFor[npy.FormatError]()},
	{"npy.LeftOutError", reflect.TypeFor[npy.LeftOutError]()},
	{"npy.UnsupportedError", reflect.TypeFor[npy.UnsupportedError]()},
	{"ragged.Buffer", reflect.TypeFor[ragged.Buffer]()},
	{"ragged.Collection", reflect.TypeFor[ragged.Collection]()},
	{"ragged.CollectionOpts", reflect.TypeFor[ragged.CollectionOpts]()},
	{"ragged.ItemOpts", reflect.TypeFor[ragged.ItemOpts]()},
	{"ragged.Records", reflect.TypeFor[ragged.Records]()},
	{"ragged.Tracked", reflect.TypeFor[ragged.Tracked]()},
	{"ragged.List", reflect.TypeFor[ragged.List]()},
	{"records.Array", reflect.TypeFor[records.Array]()},
	{"records.Field", reflect.TypeFor[records.Field]()},
	{"records.Layout", reflect.TypeFor[records.Layout]()},
	{"safetensors.File", reflect.TypeFor[safetensors.File]()},
	{"safetensors.FormatError", reflect.TypeFor[safetensors.FormatError]()},
	{"safetensors.ReadOpts", reflect.TypeFor[safetensors.ReadOpts]()},
	{"safetensors.Info", reflect.TypeFor[safetensors.Info]()},
	{"safetensors.LeftOutError", reflect.TypeFor[safetensors.LeftOutError]()},
	{"safetensors.UnsupportedError", reflect.TypeFor[safetensors.UnsupportedError]()},
	{"sym.Args", reflect.TypeFor[sym.Args]()},
	{"sym.CopyOpts", reflect.TypeFor[sym.CopyOpts]()},
	{"sym.Fn", reflect.TypeFor[sym.Fn]()},
	{"sym.Givens", reflect.TypeFor[sym.Givens]()},
	{"sym.GradOpts", reflect.TypeFor[sym.GradOpts]()},
	{"sym.GraphOpts", reflect.TypeFor[sym.GraphOpts]()},
	{"sym.Inputs", reflect.TypeFor[sym.Inputs]()},
	{"sym.MRGStreams", reflect.TypeFor[sym.MRGStreams]()},
	{"sym.Mode", reflect.TypeFor[sym.Mode]()},
	{"sym.Named", reflect.TypeFor[sym.Named]()},
	{"sym.NoDefaultUpdates", reflect.TypeFor[sym.NoDefaultUpdates]()},
	{"sym.Op", reflect.TypeFor[sym.Op]()},
	{"sym.Option", reflect.TypeFor[sym.Option]()},
	{"sym.Outputs", reflect.TypeFor[sym.Outputs]()},
	{"sym.Param", reflect.TypeFor[sym.Param]()},
	{"sym.RandomStreams", reflect.TypeFor[sym.RandomStreams]()},
	{"sym.Rule", reflect.TypeFor[sym.Rule]()},
	{"sym.Type", reflect.TypeFor[sym.Type]()},
	{"sym.Unused", reflect.TypeFor[sym.Unused]()},
	{"sym.Updates", reflect.TypeFor[sym.Updates]()},
	{"sym.Var", reflect.TypeFor[sym.Var]()},
	{"sym.Next", reflect.TypeFor[sym.Next]()},
	{"sym.ScanOpts", reflect.TypeFor[sym.ScanOpts]()},
	{"sym.Scanned", reflect.TypeFor[sym.Scanned]()},
	{"sym.Span", reflect.TypeFor[sym.Span]()},
	{"sym.Step", reflect.TypeFor[sym.Step]()},
	{"sym.Taps", reflect.TypeFor[sym.Taps]()},
	{"sym.VerifyOpts", reflect.TypeFor[sym.VerifyOpts]()},
}))

// constraints are exported types that have no values.
var constraints = map[string]bool{"weft.Element": true}

// A target is a function or a method, which takes its receiver first.
type target struct {
	name string
	fn   reflect.Value
	// promoted marks a method of an embedded struct: the language itself refuses to
	// call it with a nil receiver.
	promoted bool
}

// targets are all functions and methods, in order of their names.
var targets = func() (out []target) {
	element[bool](weft.Bool)
	element[uint8](weft.Uint8)
	element[int8](weft.Int8)
	element[int16](weft.Int16)
	element[int32](weft.Int32)
	element[int64](weft.Int64)
	element[int](weft.Int64)
	element[uint16](weft.Uint16)
	element[uint32](weft.Uint32)
	element[uint64](weft.Uint64)
	element[half.Float16](weft.Float16)
	element[half.BFloat16](weft.BFloat16)
	element[float32](weft.Float32)
	element[float64](weft.Float64)
	element[complex64](weft.Complex64)
	element[complex128](weft.Complex128)
	for name, f := range functions {
		out = append(out, target{name: name, fn: reflect.ValueOf(f)})
	}
	for name, t := range types {
		if t.Kind() == reflect.Interface {
			for i := range t.NumMethod() {
				if t.Method(i).IsExported() {
					out = append(out, target{name: name + "." + t.Method(i).Name, fn: through(t, i)})
				}
			}
			continue
		}
		for i := range t.NumMethod() {
			out = append(out, target{name: name + "." + t.Method(i).Name, fn: t.Method(i).Func})
		}
		p := reflect.PointerTo(t)
		for i := range p.NumMethod() {
			m := p.Method(i)
			if _, ok := t.MethodByName(m.Name); !ok {
				out = append(out, target{name: name + "." + m.Name, fn: m.Func, promoted: isPromoted(t, m.Name)})
			}
		}
	}
	slices.SortFunc(out, func(a, b target) int { return strings.Compare(a.name, b.name) })
	return out
}()

// methods are the places of the methods of tensors among the targets.
var methods = func() (out []int) {
	for i := range targets {
		if strings.HasPrefix(targets[i].name, "weft.Tensor.") {
			out = append(out, i)
		}
	}
	return out
}()

// through returns method i of an interface as a function that takes the value first.
func through(t reflect.Type, i int) reflect.Value {
	m := t.Method(i)
	in := []reflect.Type{t}
	for k := range m.Type.NumIn() {
		in = append(in, m.Type.In(k))
	}
	var res []reflect.Type
	for k := range m.Type.NumOut() {
		res = append(res, m.Type.Out(k))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, res, m.Type.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		if m.Type.IsVariadic() {
			return args[0].Method(i).CallSlice(args[1:])
		}
		return args[0].Method(i).Call(args[1:])
	})
}

// isPromoted reports whether a method of *t is one of an embedded struct.
func isPromoted(t reflect.Type, name string) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			if _, ok := reflect.PointerTo(f.Type).MethodByName(name); ok {
				return true
			}
		}
	}
	return false
}

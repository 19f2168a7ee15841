package onnx

// groupOperators are the operators of the node tests by group: the file operators_GROUP.go has them, and
// testdata/exceptions/GROUP.txt the cases that do not pass.
var groupOperators = map[string]string{
	"math": `Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil
		Clip Cos Cosh Det Div Einsum Equal Erf Exp Floor Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Log
		MatMul Max Mean Min Mod Mul Neg Not Or Pow Reciprocal Round Sign Sin Sinh Sqrt Sub Sum Tan Where Xor
		Bernoulli RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial`,
	"nn": `AveragePool BatchNormalization Celu Conv ConvTranspose DeformConv Dropout Elu Gelu Gemm
		GlobalAveragePool GlobalMaxPool GlobalLpPool GroupNormalization HardSigmoid HardSwish Hardmax
		InstanceNormalization LRN LayerNormalization LeakyRelu LogSoftmax LpNormalization LpPool MaxPool MaxUnpool
		MeanVarianceNormalization Mish PRelu RMSNormalization Relu Selu Shrink Sigmoid Softmax Softplus Softsign
		SwiGLU Swish Tanh ThresholdedRelu`,
	"shape": `BitCast Cast CastLike CenterCropPad Col2Im Compress Concat Constant ConstantOfShape DepthToSpace
		Expand EyeLike Flatten Gather GatherElements GatherND Identity NonZero OneHot Pad Range Reshape
		ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth Split Squeeze TensorScatter
		Tile Transpose Trilu Unsqueeze`,
	"reduce": `ArgMax ArgMin CumProd CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
		ReduceMin ReduceProd ReduceSum ReduceSumSquare TopK Unique`,
	"sequence": `ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct
		SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence`,
	"control":   `If Loop Scan`,
	"quantize":  `ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul QuantizeLinear`,
	"recurrent": `GRU LSTM RNN`,
	"loss":      `NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss`,
	"image":     `AffineGrid GridSample ImageDecoder MaxRoiPool NonMaxSuppression Resize RoiAlign Upsample`,
	"signal":    `BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT`,
	"text":      `RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer`,
	"attention": `Attention CausalConvWithState LinearAttention RotaryEmbedding`,
	"ml":        `ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.LabelEncoder ai.onnx.ml.TreeEnsemble`,
	"training":  `ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Momentum`,
	"preview":   `ai.onnx.preview.FlexAttention`,
}

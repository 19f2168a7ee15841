package hostile

import (
	"reflect"

	"weft"
	"weft/models"
	"weft/nn"
)

// modelFunctions and modelTypes are the rows of package models.
var modelFunctions = []row[any]{
	{"models.NewWhisper", withoutMemory(models.NewWhisper)},
	{"models.ReadState", models.ReadState},
	{"models.BLEU[int]", models.BLEU[int]},
	{"models.BeamSearch", models.BeamSearch},
	{"models.Decode", models.Decode},
	{"models.Generate", models.Generate},
	{"models.GenerateBatch", models.GenerateBatch},
	{"models.Llama32", models.Llama32},
	{"models.Load", models.Load},
	{"models.LoadState", models.LoadState},
	{"models.NewAlexNet", withoutMemory(models.NewAlexNet)},
	{"models.NewBert", withoutMemory(models.NewBert)},
	{"models.NewBertClassifier", withoutMemory(models.NewBertClassifier)},
	{"models.NewBertMaskedLM", withoutMemory(models.NewBertMaskedLM)},
	{"models.NewDDPM", withoutMemory(models.NewDDPM)},
	{"models.NewDiffusion", models.NewDiffusion},
	{"models.NewDistilBert", withoutMemory(models.NewDistilBert)},
	{"models.NewDistilBertClassifier", withoutMemory(models.NewDistilBertClassifier)},
	{"models.NewDistilBertMaskedLM", withoutMemory(models.NewDistilBertMaskedLM)},
	{"models.NewGNMT", withoutMemory(models.NewGNMT)},
	{"models.NewGPT2", withoutMemory(models.NewGPT2)},
	{"models.NewLlama", withoutMemory(models.NewLlama)},
	{"models.NewMobileNetV1", withoutMemory(models.NewMobileNetV1)},
	{"models.NewMobileNetV2", withoutMemory(models.NewMobileNetV2)},
	{"models.NewNCF", withoutMemory(models.NewNCF)},
	{"models.NewResNet", withoutMemory(models.NewResNet)},
	{"models.NewResNet101", withoutMemory(models.NewResNet101)},
	{"models.NewResNet152", withoutMemory(models.NewResNet152)},
	{"models.NewResNet18", withoutMemory(models.NewResNet18)},
	{"models.NewResNet34", withoutMemory(models.NewResNet34)},
	{"models.NewResNet50", withoutMemory(models.NewResNet50)},
	{"models.NewUNet", withoutMemory(models.NewUNet)},
	{"models.NewVGG", withoutMemory(models.NewVGG)},
	{"models.NewVGG11", withoutMemory(models.NewVGG11)},
	{"models.NewVGG13", withoutMemory(models.NewVGG13)},
	{"models.NewVGG16", withoutMemory(models.NewVGG16)},
	{"models.NewVGG19", withoutMemory(models.NewVGG19)},
	{"models.NewViT", withoutMemory(models.NewViT)},
	{"models.NewViTB16", withoutMemory(models.NewViTB16)},
	{"models.NewViTB32", withoutMemory(models.NewViTB32)},
	{"models.NewViTH14", withoutMemory(models.NewViTH14)},
	{"models.NewViTL16", withoutMemory(models.NewViTL16)},
	{"models.NewViTL32", withoutMemory(models.NewViTL32)},
	{"models.Save", models.Save},
	{"models.Search", models.Search},
	{"models.State", models.State},
	{"models.Stream", models.Stream},
}

// withoutMemory returns a function that makes a model, with weights that are views of one zero, and
// returns how many tensors it has: published models have up to 600 million weights.
func withoutMemory(make any) any {
	f := reflect.ValueOf(make)
	var in []reflect.Type
	for p := range f.Type().Ins() {
		in = append(in, p)
	}
	t := reflect.FuncOf(in, []reflect.Type{reflect.TypeFor[int]()}, true)
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		opts := args[len(args)-1]
		if opts.Len() == 0 {
			opts = reflect.Append(reflect.MakeSlice(opts.Type(), 0, 1), reflect.Zero(opts.Type().Elem()))
		}
		for i := range opts.Len() {
			opts.Index(i).FieldByName("Weight").Set(reflect.ValueOf(nn.Init(func(_ *weft.Generator, shape ...int) *weft.Tensor { return weft.Zeros().Expand(shape...) })))
		}
		args[len(args)-1] = opts
		return []reflect.Value{reflect.ValueOf(len(nn.State(f.CallSlice(args)[0].Interface())))}
	}).Interface()
}

var modelTypes = []row[reflect.Type]{
	{"models.DistilBert", reflect.TypeFor[models.DistilBert]()},
	{"models.DistilBertClassifier", reflect.TypeFor[models.DistilBertClassifier]()},
	{"models.DistilBertMaskedLM", reflect.TypeFor[models.DistilBertMaskedLM]()},
	{"models.DistilBertOpts", reflect.TypeFor[models.DistilBertOpts]()},
	{"models.IndexError", reflect.TypeFor[models.IndexError]()},
	{"models.Whisper", reflect.TypeFor[models.Whisper]()},
	{"models.WhisperDecodeOpts", reflect.TypeFor[models.WhisperDecodeOpts]()},
	{"models.WhisperOpts", reflect.TypeFor[models.WhisperOpts]()},
	{"models.AlexNet", reflect.TypeFor[models.AlexNet]()},
	{"models.AlexNetOpts", reflect.TypeFor[models.AlexNetOpts]()},
	{"models.Beam", reflect.TypeFor[models.Beam]()},
	{"models.BeamOpts", reflect.TypeFor[models.BeamOpts]()},
	{"models.Bert", reflect.TypeFor[models.Bert]()},
	{"models.BertClassifier", reflect.TypeFor[models.BertClassifier]()},
	{"models.BertMaskedLM", reflect.TypeFor[models.BertMaskedLM]()},
	{"models.BertOpts", reflect.TypeFor[models.BertOpts]()},
	{"models.Conv1D", reflect.TypeFor[models.Conv1D]()},
	{"models.DDPM", reflect.TypeFor[models.DDPM]()},
	{"models.DDPMAttention", reflect.TypeFor[models.DDPMAttention]()},
	{"models.DDPMBlock", reflect.TypeFor[models.DDPMBlock]()},
	{"models.DDPMOpts", reflect.TypeFor[models.DDPMOpts]()},
	{"models.DDPMResnet", reflect.TypeFor[models.DDPMResnet]()},
	{"models.DDPMSampler", reflect.TypeFor[models.DDPMSampler]()},
	{"models.Decoder", reflect.TypeFor[models.Decoder]()},
	{"models.Diffusion", reflect.TypeFor[models.Diffusion]()},
	{"models.DiffusionOpts", reflect.TypeFor[models.DiffusionOpts]()},
	{"models.DoubleConv", reflect.TypeFor[models.DoubleConv]()},
	{"models.Form", reflect.TypeFor[models.Form]()},
	{"models.GNMT", reflect.TypeFor[models.GNMT]()},
	{"models.GNMTMemory", reflect.TypeFor[models.GNMTMemory]()},
	{"models.GNMTOpts", reflect.TypeFor[models.GNMTOpts]()},
	{"models.GPT2", reflect.TypeFor[models.GPT2]()},
	{"models.GPT2Opts", reflect.TypeFor[models.GPT2Opts]()},
	{"models.GenerateOpts", reflect.TypeFor[models.GenerateOpts]()},
	{"models.InvertedResidual", reflect.TypeFor[models.InvertedResidual]()},
	{"models.LM", reflect.TypeFor[models.LM]()},
	{"models.Llama", reflect.TypeFor[models.Llama]()},
	{"models.LlamaOpts", reflect.TypeFor[models.LlamaOpts]()},
	{"models.LoadOpts", reflect.TypeFor[models.LoadOpts]()},
	{"models.ReadStateOpts", reflect.TypeFor[models.ReadStateOpts]()},
	{"models.LogitsOpts", reflect.TypeFor[models.LogitsOpts]()},
	{"models.MobileNetLayer", reflect.TypeFor[models.MobileNetLayer]()},
	{"models.MobileNetOpts", reflect.TypeFor[models.MobileNetOpts]()},
	{"models.MobileNetV1", reflect.TypeFor[models.MobileNetV1]()},
	{"models.MobileNetV2", reflect.TypeFor[models.MobileNetV2]()},
	{"models.NCF", reflect.TypeFor[models.NCF]()},
	{"models.NCFOpts", reflect.TypeFor[models.NCFOpts]()},
	{"models.Published", reflect.TypeFor[models.Published]()},
	{"models.ReadOpts", reflect.TypeFor[models.ReadOpts]()},
	{"models.ResNet", reflect.TypeFor[models.ResNet]()},
	{"models.ResNetBlock", reflect.TypeFor[models.ResNetBlock]()},
	{"models.ResNetOpts", reflect.TypeFor[models.ResNetOpts]()},
	{"models.RopeScaling", reflect.TypeFor[models.RopeScaling]()},
	{"models.SampleOpts", reflect.TypeFor[models.SampleOpts]()},
	{"models.SaveOpts", reflect.TypeFor[models.SaveOpts]()},
	{"models.TimeEmbedding", reflect.TypeFor[models.TimeEmbedding]()},
	{"models.UNet", reflect.TypeFor[models.UNet]()},
	{"models.UNetDown", reflect.TypeFor[models.UNetDown]()},
	{"models.UNetOpts", reflect.TypeFor[models.UNetOpts]()},
	{"models.UNetOut", reflect.TypeFor[models.UNetOut]()},
	{"models.UNetUp", reflect.TypeFor[models.UNetUp]()},
	{"models.VGG", reflect.TypeFor[models.VGG]()},
	{"models.VGGOpts", reflect.TypeFor[models.VGGOpts]()},
	{"models.ViT", reflect.TypeFor[models.ViT]()},
	{"models.ViTBlock", reflect.TypeFor[models.ViTBlock]()},
	{"models.ViTOpts", reflect.TypeFor[models.ViTOpts]()},
}

// languageModel returns a small model of 5 tokens.
func languageModel() models.LM {
	return models.NewGPT2(models.GPT2Opts{Vocab: new(5), Context: new(8), Width: new(4), Layers: new(1), Heads: new(1), Generator: weft.NewGenerator(1)})
}

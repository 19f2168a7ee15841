// Package models has networks with the shapes and names of their publications, which load the weights
// that others trained.
//
// Each model is a struct of layers of package nn: nn.Params, nn.Train, nn.Freeze and nn.Summary work
// with it, and its parts can be used or replaced alone. A constructor draws new weights as the
// publication says. [Load] reads weights from a safetensors file or one of torch.save instead, by the
// names that torchvision or transformers give them, and [Save] writes safetensors files:
//
//	net := models.NewResNet50()
//	if err := models.Load(net, "resnet50.pth"); err != nil {
//		log.Fatal(err)
//	}
//	nn.Eval(net)
//	scores := net.Forward(pictures) // [n 3 224 224] to [n 1000]
//
// Values and gradients equal what the definitions there give, to the rounding of float32.
//
// All layers go through nn.Call, so that hooks find them: nn.HookForward(net.Layer3[1], f). nn.Modules
// lists them by their paths, also those whose types are not exported:
//
//	for path, layer := range nn.Modules(bert) {
//		if path == "encoder.layer.3" {
//			nn.HookForward(layer, f)
//		}
//	}
//
// # Pictures
//
// [AlexNet], [VGG], [ResNet], [MobileNetV1], [MobileNetV2] and [ViT] are classifiers, which map [batch,
// channels, height, width] to scores [batch, classes]. Their method Features returns what the last
// layers see. [UNet] labels each pixel. [DDPM] tells the noise in a picture, and [Diffusion] trains it
// and makes pictures with it.
//
// # Ratings
//
// [NCF] says how likely a user takes an item.
//
// # Texts
//
// Texts are lists of tokens, integers from 0 to the size of a vocabulary. [GPT2] and [Llama] are language
// models ([LM]): [Generate] and [BeamSearch] write texts on. [Bert] reads texts, alone or with heads
// ([BertMaskedLM], [BertClassifier]). [GNMT] translates, and [BLEU] says how well.
// [DistilBert] is a [Bert] with half of the layers. [Whisper] writes what is said in a sound.
//
// # Options
//
// As in package nn, the last argument is a struct whose zero value is the published model. A field
// whose default is not 0 is a pointer.
package models

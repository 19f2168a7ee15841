// Package hf reads folders of Hugging Face: the files that save_pretrained of transformers writes, or
// that one downloads of a model. [Load] gives the network with its weights, its tokenizer and its
// configuration:
//
//	m, err := hf.Load("all-MiniLM-L6-v2")
//	if err != nil {
//		log.Fatal(err)
//	}
//	vectors, err := m.Embed([]string{"A cat sat on the mat.", "Where is the cat?"}) // [2 384]
//
// Nothing is downloaded, and nothing of a folder is run. These networks are known, by the first of the
// architectures in config.json:
//
//	BertModel, BertForMaskedLM, BertForSequenceClassification
//	DistilBertModel, DistilBertForMaskedLM, DistilBertForSequenceClassification
//	GPT2LMHeadModel, GPT2Model, LlamaForCausalLM
//	ViTForImageClassification
//	WhisperForConditionalGeneration
//
// Folders of sentence-transformers, such as all-MiniLM-L6-v2, have the pooling of the tokens' vectors in
// modules.json; Embed does what it says. Weights are safetensors or files of torch.save, in one file or
// in shards with an index.
//
// [Model.Module] is a network of package models, which takes tensors of tokens or pictures; [Model.Embed],
// [Model.Classify], [Model.ClassifyPictures], [Model.Generate] and [Model.Transcribe] go from texts, pictures
// and sounds to results. They may be called from many goroutines at once. The network is in the mode for
// use; nn.Train puts it into that for training.
//
// What a folder asks for that weft does not have, such as another activation, gives an
// *[UnsupportedError]; files that contradict each other a *[FormatError]. Memory is bounded by the size of
// the files of weights, whatever config.json says.
package hf

// Package data brings examples to a training loop: datasets, and a loader that
// shuffles, batches and reads ahead.
//
//	loader := data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(64), Shuffle: true, Seed: 1})
//	for loader.Epoch() < 10 {
//		for batch, err := range loader.Batches(ctx) {
//			if err != nil {
//				return err
//			}
//			... batch.X, batch.Y
//		}
//	}
//
// Items may be of any type: [NewLoaderOf] takes a [DatasetOf] and a function that makes a batch, such as
// [Collate]; [Map], [Subset], [Concat] and [RandomSplit] make datasets of others. [NewStreamLoader] takes
// items that come one after the other. [LoaderOpts] has workers, which read several batches at once, and
// samplers, which choose examples.
//
// Sequences of different length become a [Padded] tensor, or a *ragged.List of package ragged.
// [MapStream] maps the items of a stream on several goroutines.
//
// Files: [ReadImage], [PictureFolder], [ReadIDX], [ReadCIFAR], [ReadCSV], [ReadWAV], [Lines] and the tar
// files of [Shards]; package npy reads npz archives. [FromImage] and [ToImage] go between pictures and tensors.
//
// The order of the examples is a function of the seed and the epoch alone, so
// that a run resumed at an epoch and batch, see [Loader.Seek], goes on as an
// unbroken one would.
package data

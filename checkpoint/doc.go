// Package checkpoint saves all that a training run needs to go on, in one file,
// and restores it.
//
//	parts := checkpoint.Parts{
//		"model":  checkpoint.Module(net),
//		"optim":  opt,
//		"loader": loader,
//		"random": checkpoint.Generator(g),
//	}
//	err := checkpoint.Save("run.safetensors", parts, nil)
//	meta, err := checkpoint.Load("run.safetensors", parts)
//
// The file is a safetensors file, which other tools read. A tensor's name is
// that of its part, a slash and its name in the part: "model/fc.weight".
//
// [Save] replaces the file as a whole: a process that is killed at any moment
// leaves the old file or the new one. [Load] restores every part or, on an
// error, none.
package checkpoint

// Classify trains a network with a published shape, such as AlexNet, VGG, MobileNet, ResNet or ViT in a small
// size, to tell what pictures show. It renders the pictures itself. It tells how many that it has not seen are
// told right and which are mistaken for which, and draws that into classify.png.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"weft"
	"weft/data"
	"weft/models"
	"weft/nn"
	"weft/optim"
	"weft/plot"
	"weft/train"
)

const batch = 16

// A Network is a kind of network that classifies pictures of a size.
type Network struct {
	Size int     // of the pictures, the smallest that the network has room for
	Rate float64 // of Adam, the greatest
	// New returns a network whose layers are scale times as wide as the smallest.
	New func(scale int, g *weft.Generator) nn.Layer
}

var kinds = new(len(classes))

// networks are the kinds by name.
var networks = map[string]Network{
	"alexnet": {64, 0.002, func(scale int, g *weft.Generator) nn.Layer {
		return models.NewAlexNet(models.AlexNetOpts{Classes: kinds, Width: new(8 * scale), Hidden: new(64 * scale), Dropout: new(0.1), Generator: g})
	}},
	"vgg": {32, 0.004, func(scale int, g *weft.Generator) nn.Layer {
		return models.NewVGG11(models.VGGOpts{Classes: kinds, Width: new(8 * scale), Hidden: new(64 * scale), Dropout: new(0.1), BatchNorm: true, Generator: g})
	}},
	"mobilenet1": {48, 0.006, func(scale int, g *weft.Generator) nn.Layer {
		return models.NewMobileNetV1(models.MobileNetOpts{Classes: kinds, Width: new(0.25 * float64(scale)), Generator: g})
	}},
	"mobilenet2": {48, 0.006, func(scale int, g *weft.Generator) nn.Layer {
		return models.NewMobileNetV2(models.MobileNetOpts{Classes: kinds, Width: new(0.25 * float64(scale)), Generator: g})
	}},
	"resnet": {32, 0.01, func(scale int, g *weft.Generator) nn.Layer {
		return models.NewResNet([4]int{1, 1, 1, 1}, false, models.ResNetOpts{Classes: kinds, Width: new(8 * scale), SmallStem: true, Generator: g})
	}},
	"vit": {32, 0.004, func(scale int, g *weft.Generator) nn.Layer {
		return models.NewViT(4, 2*scale, 4, 32*scale, 64*scale, models.ViTOpts{Classes: kinds, Size: new(32), Generator: g})
	}},
}

// A Classifier is a network, its trainer and how it does on pictures that it has not seen.
type Classifier struct {
	*train.Trainer
	Net       nn.Layer
	Confusion *train.Metric // of the latest evaluation
	loader    *data.Loader
	unseen    *data.Loader
}

// NewClassifier returns one that trains on pictures for epochs, and evaluates on half of that number.
func NewClassifier(n Network, scale, pictures, epochs int, dev weft.Device, o train.Opts) *Classifier {
	c := &Classifier{Net: nn.On(n.New(scale, weft.NewGenerator(1)), dev), Confusion: train.F1()}
	c.loader = data.NewLoader(Pictures{pictures, n.Size, 1}, data.LoaderOpts{Batch: new(batch), Shuffle: true, Seed: 1, DropLast: true, Workers: 2})
	c.unseen = data.NewLoader(Pictures{pictures / 2, n.Size, 2}, data.LoaderOpts{Batch: new(2 * batch), Workers: 2})
	o.Metrics = []*train.Metric{train.Accuracy(), c.Confusion}
	o.Schedule = optim.OneCycle{Steps: max(epochs*c.loader.Len(), 1), Max: n.Rate}
	c.Trainer = train.New(c.Net, train.Loss(nn.CrossEntropy), optim.NewAdam(nn.Params(c.Net)), o)
	return c
}

// Train trains for epochs.
func (c *Classifier) Train(ctx context.Context, epochs int) (*train.History, error) {
	return c.Fit(ctx, epochs, c.loader, c.unseen)
}

// Draw draws the training and the confusion matrix: a row for each class that pictures show, a column for
// each that they are taken for.
func (c *Classifier) Draw(title string) *plot.Figure {
	f := plot.NewFigure(plot.FigureOpts{Title: title, Columns: new(2)})
	ax := f.Axes(0, 0)
	ax.Title = "Loss"
	c.History().DrawLoss(ax)
	ax = f.Axes(0, 1)
	ax.Title, ax.Hidden = "Pictures not seen", true
	counts := c.Confusion.Matrix()
	ax.Imshow(counts)
	for i, row := range classes[:counts.Dim(0)] {
		ax.Text(-0.6, float64(i), row, plot.TextOpts{Align: plot.Right})
		ax.Text(float64(i), float64(counts.Dim(0))-0.3, row, plot.TextOpts{Align: plot.Center})
		for j := range counts.Dim(1) {
			ax.Text(float64(j), float64(i), fmt.Sprint(counts.At(i, j).ItemInt()), plot.TextOpts{Align: plot.Center, Veil: true})
		}
	}
	ax.XLim = &[2]float64{-2, float64(counts.Dim(1)) - 0.5}
	return f
}

func main() {
	names := strings.Join(slices.Sorted(maps.Keys(networks)), ", ")
	kind := flag.String("net", "resnet", "the network: "+names)
	scale := flag.Int("scale", 2, "width of the layers, 1 for the smallest")
	pictures := flag.Int("pictures", 1920, "pictures to train on")
	epochs := flag.Int("epochs", 5, "passes over them")
	path := flag.String("o", "classify.png", "the picture to write")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	net, found := networks[*kind]
	if !found || *scale < 1 || *pictures < batch || *epochs < 1 {
		fmt.Fprintln(os.Stderr, "classify: want -net as one of", names, "and numbers above 0, with at least", batch, "pictures")
		os.Exit(2)
	}
	dev, err := weft.DeviceByName(*device)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, NewClassifier(net, *scale, *pictures, *epochs, dev, train.Opts{Progress: train.NewProgress(os.Stdout, train.ProgressOpts{Unit: "pictures"})}), *epochs, *kind, *path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "classify:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c *Classifier, epochs int, kind, path string) error {
	parameters := 0
	for _, p := range nn.Params(c.Net) {
		parameters += p.Size()
	}
	fmt.Printf("%s with %d parameters, %d batches an epoch\n", kind, parameters, c.loader.Len())
	if _, err := c.Train(ctx, epochs); err != nil && !errors.As(err, new(*train.Interrupted)) {
		return err
	}
	values, err := c.Evaluate(context.Background(), c.unseen)
	if err != nil {
		return err
	}
	fmt.Printf("of pictures not seen %.1f %% are told right; rows show, columns are what they are taken for:\n%v\n", 100*values.Get("accuracy"), c.Confusion.Matrix())
	if err := c.Draw(kind).SaveFig(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}

package onnx

import (
	"cmp"
	"slices"
)

// An operator is one version of an ONNX operator in terms of weft's operations.
type operator struct {
	name string
	// since is the first version of the domain's operator set in which the operator means this. It holds
	// until another entry of the same name begins. 0 and 1 are the same.
	since int
	// run returns the outputs. Outputs at the end may be missing if the node does not name them. It
	// panics with *weft.Error, or by call.fail. It asks for every attribute that the operator has, whether
	// it is used or not: another attribute is an error.
	run func(c *call) []Value
	// reads are the numbers of inputs that are read on the host, such as sizes: initializers there are
	// constants and not weights.
	reads []int
	// eager operators work on the host or have results whose shape depends on elements. They run between
	// compiled pieces.
	eager bool
	// random operators give other results in each run, so that they are not folded.
	random bool
}

// Domains other than ONNX's own, whose name is "".
const (
	domainMicrosoft = "com.microsoft"
	domainML        = "ai.onnx.ml"
	domainPreview   = "ai.onnx.preview"
	domainTraining  = "ai.onnx.preview.training"
)

// newest are the newest versions of the domains' operator sets whose operators mean what they mean here.
var newest = map[string]int{"": 28, domainMicrosoft: 1, domainML: 5, domainTraining: 1, domainPreview: 1}

// groups are the tables of operators, one for each file.
var groups = []struct {
	domain string
	list   []operator
}{
	{"", mathOperators},
	{"", nnOperators},
	{"", activationOperators},
	{"", normOperators},
	{"", poolOperators},
	{"", shapeOperators},
	{"", gatherOperators},
	{"", layoutOperators},
	{"", castOperators},
	{"", reduceOperators},
	{"", sequenceOperators},
	{"", controlOperators},
	{"", quantizeOperators},
	{"", recurrentOperators},
	{"", lossOperators},
	{"", imageOperators},
	{"", resizeOperators},
	{"", signalOperators},
	{"", textOperators},
	{"", attentionOperators},
	{"", runtimeOperators},
	{domainMicrosoft, microsoftOperators},
	{domainML, mlOperators},
	{domainML, treeOperators},
	{domainML, svmOperators},
	{domainTraining, trainingOperators},
	{domainPreview, previewOperators},
}

type operatorKey struct{ domain, name string }

// registry has the versions of each operator, the latest first.
var registry map[operatorKey][]*operator

func init() {
	registry = map[operatorKey][]*operator{}
	for _, g := range groups {
		for i := range g.list {
			k := operatorKey{g.domain, g.list[i].name}
			registry[k] = append(registry[k], &g.list[i])
		}
	}
	for _, list := range registry {
		slices.SortFunc(list, func(a, b *operator) int { return cmp.Compare(b.since, a.since) })
	}
}

// lookup returns the operator of a version of its domain's set, nil if there is none.
func lookup(domain, name string, opset int) *operator {
	if opset > newest[domain] {
		return nil
	}
	for _, o := range registry[operatorKey{domain, name}] {
		if o.since <= opset {
			return o
		}
	}
	return nil
}

// An OperatorInfo is an operator that models may use.
type OperatorInfo struct {
	Domain string // "" is ONNX's own
	Name   string
	// Since are the versions of the domain's operator set from which on the operator means something else,
	// ascending; the first is 1 if it always meant the same.
	Since []int
}

// Operators returns the operators that models may use, by domain and name.
func Operators() []OperatorInfo {
	var out []OperatorInfo
	for k, list := range registry {
		o := OperatorInfo{Domain: k.domain, Name: k.name}
		for _, v := range slices.Backward(list) {
			o.Since = append(o.Since, max(v.since, 1))
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b OperatorInfo) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Name, b.Name))
	})
	return out
}

package onnx

import (
	"fmt"
	"strings"
)

// An Error says why a file is not a model that can be run, or why a run of it failed.
type Error struct {
	Path  string // of the file, if there is one
	Node  string // the name of the node at fault, or its first output; "" outside of nodes
	Op    string // the node's operator with its domain, such as "Conv" or "com.microsoft.Gelu"
	OpSet int    // the version of the operator's domain
	Text  string // what is wrong
	Err   error  // the cause, if another error is
}

// Error is the message with path, operator and node.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("onnx: ")
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	if e.Op != "" {
		fmt.Fprintf(&b, "%s of opset %d (node %q): ", e.Op, e.OpSet, e.Node)
	}
	b.WriteString(e.Text)
	if e.Err != nil {
		if e.Text != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// An UnsupportedNode is a node that cannot be run.
type UnsupportedNode struct {
	Name   string // of the node, or its first output
	Op     string
	Domain string // "" is ONNX's own
	OpSet  int    // the version of the domain; 0 if the model does not import it
}

// An UnsupportedError lists every node of a model that has no operator here.
type UnsupportedError struct {
	Path  string
	Nodes []UnsupportedNode
}

// Error is a line for each node.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	b.WriteString("onnx: ")
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	fmt.Fprintf(&b, "%d nodes cannot be run:", len(e.Nodes))
	for _, n := range e.Nodes {
		fmt.Fprintf(&b, "\n\t%s of opset %d (node %q)", operatorName(n.Domain, n.Op), n.OpSet, n.Name)
	}
	return b.String()
}

func operatorName(domain, op string) string {
	if domain == "" {
		return op
	}
	return domain + "." + op
}

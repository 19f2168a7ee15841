package onnx

// Control flow: subgraphs.
var controlOperators = []operator{
	{name: "If", run: branch},
}

// branch runs one of two subgraphs. A condition that only the elements decide is read between programs.
func branch(c *call) []Value {
	then, els := c.attrGraph("then_branch"), c.attrGraph("else_branch")
	if c.bool(0) {
		return c.subgraph(then)
	}
	return c.subgraph(els)
}

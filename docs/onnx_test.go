package docs

import (
	"fmt"
	"strings"
	"testing"

	"weft/onnx"
)

// TestOperatorsOfONNX holds the table of operators to the registry of package onnx.
func TestOperatorsOfONNX(t *testing.T) {
	var b strings.Builder
	list := onnx.Operators()
	domain := "-"
	count := map[string]int{}
	for _, o := range list {
		count[o.Domain]++
	}
	for _, o := range list {
		if o.Domain != domain {
			domain = o.Domain
			name := "`" + domain + "`"
			if domain == "" {
				name = "ONNX"
			}
			fmt.Fprintf(&b, "\n## %s: %d\n\n| operator | versions |\n|---|---|\n", name, count[domain])
		}
		fmt.Fprintf(&b, "| %s | %s |\n", o.Name, strings.ReplaceAll(strings.Trim(fmt.Sprint(o.Since), "[]"), " ", ", "))
	}
	b.WriteString("\n")
	writeTable(t, "onnx-operators.md", "operators", b.String())
}

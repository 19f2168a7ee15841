package weft_test

import (
	"testing"

	"weft/internal/tensortest"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

package kerneltest

import (
	"fmt"
	"strings"
)

// PlainHelpers is Go source of what kernels drawn with [Options.Plain] call.
func PlainHelpers() string {
	var b strings.Builder
	b.WriteString(`
type plainInt interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func plainDiv[T plainInt](x, y T) T {
	if y == 0 {
		return 0
	}
	return x / y
}

func plainRem[T plainInt](x, y T) T {
	if y == 0 {
		return 0
	}
	return x % y
}

func plainShl[T, N plainInt](x T, n N) T {
	if n < 0 {
		return 0
	}
	return x << n
}

func plainShr[T, N plainInt](x T, n N) T {
	if n < 0 && x < 0 {
		x = 0
		return ^x
	} else if n < 0 {
		return 0
	}
	return x >> n
}
`)
	for _, w := range []int{8, 16, 32, 64} {
		for _, name := range []string{fmt.Sprintf("int%d", w), "int"} {
			if name == "int" && w != 64 {
				continue
			}
			fmt.Fprintf(&b, `
func plain_%[1]s(x float64) %[1]s {
	switch {
	case !(x > -0x1p%[2]d):
		if x != x {
			return 0
		}
		return -1 << %[2]d
	case x >= 0x1p%[2]d:
		return 1<<%[2]d - 1
	}
	return %[1]s(x)
}

func plain_u%[1]s(x float64) u%[1]s {
	switch {
	case !(x > 0):
		return 0
	case x >= 0x1p%[3]d:
		return 1<<%[3]d - 1
	}
	return u%[1]s(x)
}
`, name, w-1, w)
		}
	}
	return b.String()
}

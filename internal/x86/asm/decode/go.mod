module weft/internal/x86/asm/decode

go 1.26.0

require (
	golang.org/x/arch v0.32.0
	weft v0.0.0
)

replace weft => ../../../..

module weft/cuda

go 1.26.0

require (
	github.com/ebitengine/purego v0.11.3
	golang.org/x/sys v0.49.0
	weft v0.0.0
)

replace weft => ..

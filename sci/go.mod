module weft/sci

go 1.26.0

require (
	gonum.org/v1/gonum v0.17.0
	weft v0.0.0
)

require (
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.30.0 // indirect
)

replace weft => ..

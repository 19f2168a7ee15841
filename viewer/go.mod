module weft/viewer

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	weft v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace weft => ..

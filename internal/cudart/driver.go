// Package cudart is a GPU as a device of weft: streams, launches, a caching allocator and pinned
// memory, over the calls of a driver. Package cuda gives it NVIDIA's driver, package ptxsim a
// simulator.
package cudart

import "weft/internal/cudart/driver"

// The names of package driver.
type (
	Driver      = driver.Driver
	Context     = driver.Context
	Info        = driver.Info
	Addr        = driver.Addr
	Module      = driver.Module
	Func        = driver.Func
	Queue       = driver.Queue
	Event       = driver.Event
	DriverError = driver.DriverError
)

// Codes of [DriverError], which package driver explains.
const (
	CodeInvalid     = driver.CodeInvalid
	CodeOutOfMemory = driver.CodeOutOfMemory
	CodeNoDevice    = driver.CodeNoDevice
	CodeBadText     = driver.CodeBadText
	CodeFault       = driver.CodeFault
	CodeResources   = driver.CodeResources
	CodeTimeout     = driver.CodeTimeout
	CodeLaunch      = driver.CodeLaunch
)

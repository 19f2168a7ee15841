// Package looptest evaluates the loop language from its definitions in package loop, for
// tests: operations by Go's own arithmetic, and programs lane by lane. Its tests compare the
// operations with exact arithmetic of math/big. Backends, the interpreter among them, are
// compared with this package. It imports none of them, and none of the packages of weft that
// they compute with.
package looptest

// Package looptest evaluates the loop language from its definitions in package loop, for
// tests: the operations by math/big, and programs lane by lane. It is what backends, and the
// interpreter among them, are compared with. It imports none of them, nor what they compute
// with.
package looptest

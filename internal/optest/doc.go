// Package optest is the conformance suite: what it demands, every backend must
// give for every operation of the op table.
//
//   - [Values] compares each Def, over element types and special values, with a
//     plain reference written per operation, from arrays of many layouts that end
//     at inaccessible pages, and demands the same bits for every layout and as
//     on the oracle.
//   - [Large] demands the same bits for any number of threads on arrays that are
//     cut into chunks, blocks and parts.
//   - [Gradients] compares gradients, and gradients of gradients, with finite
//     differences, and [SameGradients] with the oracle's, bit by bit.
//   - [Fusion] demands that a graph planned as one and the same graph evaluated
//     node by node give the same bits; [RandomGraph] makes graphs.
//   - [Draws] demands the oracle's bits of random numbers of every distribution.
//
// It is a library over op, plan, exec and device, so that one binary can carry it
// to a machine with another device. Everything it draws comes from fixed seeds.
package optest

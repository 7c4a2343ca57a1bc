//go:build (amd64 || arm64) && !go1.27

// Where sonic v1.15.0 has an encoder of its own; the same condition as in its
// file sonic.go.
package jsonengine

const sonicNative = true

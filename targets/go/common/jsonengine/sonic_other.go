//go:build !((amd64 || arm64) && !go1.27)

// Where sonic v1.15.0 would use encoding/json under its own name.
package jsonengine

const sonicNative = false

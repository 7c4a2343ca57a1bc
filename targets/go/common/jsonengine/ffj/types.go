// Package ffj has the values of the contract with the encoders that ffjson
// generates. They are types of their own, because a generated MarshalJSON on
// the contract's own types would be what encoding/json calls too.
package ffj

//go:generate ffjson -nodecoder types.go

// User is contract.User.
type User struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Email  string  `json:"email"`
	Age    int     `json:"age"`
	Active bool    `json:"active"`
	Score  float64 `json:"score"`
}

// Subject is contract.Subject.
type Subject struct {
	Sub string `json:"sub"`
}

// Cached is contract.Cached.
type Cached struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Layers is contract.Layers.
type Layers struct {
	Layers int `json:"layers"`
}

// Upload is contract.Upload.
type Upload struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Health is contract.Health.
type Health struct {
	Status string `json:"status"`
}

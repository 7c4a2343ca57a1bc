// The values of the routes that studies of routers, layers and collectors ask.
package ffj

//go:generate ffjson -nodecoder work.go

// Hops is contract.Hops.
type Hops struct {
	Hops  int `json:"hops"`
	Times int `json:"times"`
}

// Param is contract.Param.
type Param struct {
	ID    string `json:"id"`
	Reads int    `json:"reads"`
	Bytes int    `json:"bytes"`
}

// Route is contract.Route.
type Route struct {
	Route int    `json:"route"`
	ID    string `json:"id"`
}

// Decoded is contract.Decoded.
type Decoded struct {
	Records int `json:"records"`
	IDs     int `json:"ids"`
}

// Allocated is contract.Allocated.
type Allocated struct {
	Objects int `json:"objects"`
	Sum     int `json:"sum"`
}

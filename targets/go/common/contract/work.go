// The values of the routes that studies of routers, layers, decoders and collectors
// ask: /hops, /param, /routes, /decode and /allocate; and of /complex.
package contract

//go:generate easyjson -all -no_std_marshalers work.go

// Hops is the data of /hops/{k}.
type Hops struct {
	Hops  int `json:"hops"`
	Times int `json:"times"`
}

// Param is the data of /param/{id}: how often the parameter was read, and the
// bytes that all readings had together.
type Param struct {
	ID    string `json:"id"`
	Reads int    `json:"reads"`
	Bytes int    `json:"bytes"`
}

// Route is the data of /routes/{i}/{id}.
type Route struct {
	Route int    `json:"route"`
	ID    string `json:"id"`
}

// Decoded is the data of /decode: the records of the body, and the sum of their ids.
type Decoded struct {
	Records int `json:"records"`
	IDs     int `json:"ids"`
}

// Allocated is the data of /allocate/{n}: the objects that were made, and the sum
// of the numbers that they held.
type Allocated struct {
	Objects int `json:"objects"`
	Sum     int `json:"sum"`
}

// Complex is the data of /complex/{id}: what its calls brought, of the HTTP backend
// the number of records only.
type Complex struct {
	Calls   int      `json:"calls"`
	Users   []User   `json:"users"`
	Cached  []Cached `json:"cached"`
	Records int      `json:"records"`
}

// Batch is the body of /decode.
type Batch struct {
	Records []Record `json:"records"`
}

// Count is the answer to a body that decoded well.
func (b *Batch) Count() Decoded {
	decoded := Decoded{Records: len(b.Records)}
	for k := range b.Records {
		decoded.IDs += b.Records[k].ID
	}
	return decoded
}

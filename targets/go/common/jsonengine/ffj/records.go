// The values that are decoded too.
package ffj

// The generator leaves a mark of its own in a comment, which is NOTE here.
//go:generate ffjson records.go

// Record is contract.Record.
type Record struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Age    int      `json:"age"`
	Active bool     `json:"active"`
	Score  float64  `json:"score"`
	Tags   []string `json:"tags"`
}

// Batch is contract.Batch.
type Batch struct {
	Records []Record `json:"records"`
}

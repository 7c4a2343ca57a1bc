// Tests that fields are set by their tags and others are left alone.
package reflected

import "testing"

func TestFieldsAreSetByTheirTags(t *testing.T) {
	into := struct {
		ID    string `param:"id"`
		Other string
	}{Other: "kept"}
	Bind(&into, func(name string) string { return "value of " + name })
	if into.ID != "value of id" || into.Other != "kept" {
		t.Errorf("%+v", into)
	}
}

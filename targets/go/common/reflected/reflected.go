// Package reflected puts named texts into the fields of a struct by their tags,
// with reflection at each call, as binders of frameworks do. net/http has none.
package reflected

import "reflect"

// Bind sets each string field of the struct behind into that has the tag param
// to the text of that name.
func Bind(into any, text func(name string) string) {
	value := reflect.ValueOf(into).Elem()
	kind := value.Type()
	for k := range kind.NumField() {
		if name, ok := kind.Field(k).Tag.Lookup("param"); ok {
			value.Field(k).SetString(text(name))
		}
	}
}

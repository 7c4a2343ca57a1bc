// Allocation-heavy work: a stated number of objects of a stated size is held at
// once, each written and then checked, as when a request builds a large answer.
// fresh leaves them all to the collector, pooled uses them again.
package main

import (
	"fmt"
	"sync"
)

// newObjects returns the work, or nil where there is none.
func newObjects(chosen settings) func() error {
	size, count := chosen.objectBytes, chosen.objectCount
	switch chosen.objects {
	case "fresh":
		return func() error {
			return useObjects(make([]*[]byte, count), func() *[]byte {
				object := make([]byte, size)
				return &object
			}, func(*[]byte) {})
		}
	case "pooled":
		return pooledObjects(size, count)
	default:
		return nil
	}
}

func pooledObjects(size, count int) func() error {
	objects := sync.Pool{New: func() any {
		object := make([]byte, size)
		return &object
	}}
	lists := sync.Pool{New: func() any {
		list := make([]*[]byte, count)
		return &list
	}}
	get := func() *[]byte { return objects.Get().(*[]byte) }
	put := func(object *[]byte) { objects.Put(object) }
	return func() error {
		list := lists.Get().(*[]*[]byte)
		defer lists.Put(list)
		return useObjects(*list, get, put)
	}
}

// useObjects fills held with objects, writes each, and checks and gives back all
// of them. Two requests that got the same object would find each other's marks.
func useObjects(held []*[]byte, get func() *[]byte, put func(*[]byte)) error {
	for k := range held {
		held[k] = get()
		mark(*held[k], k)
	}
	var err error
	for k, object := range held {
		if !marked(*object, k) {
			err = fmt.Errorf("%w: object %d holds another's bytes", errWork, k)
		}
		held[k] = nil
		put(object)
	}
	return err
}

// mark writes every byte: a page that is never touched costs nothing.
func mark(object []byte, k int) {
	for place := range object {
		object[place] = byte(k + place)
	}
}

func marked(object []byte, k int) bool {
	for place, value := range object {
		if value != byte(k+place) {
			return false
		}
	}
	return true
}

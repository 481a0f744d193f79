package core

import (
	"iter"
	"slices"
)

// Table keeps values by their ids, in the order in which they came. Its zero value is empty. The core's lock guards it.
type Table[T any] struct {
	values map[string]T
	ids    []string // oldest first
}

// Put adds a value, or replaces the one with this id.
func (t *Table[T]) Put(id string, v T) {
	if t.values == nil {
		t.values = map[string]T{}
	}
	if !t.Has(id) {
		t.ids = append(t.ids, id)
	}
	t.values[id] = v
}

// Get returns the value with this id.
func (t *Table[T]) Get(id string) (v T, found bool) {
	v, found = t.values[id]
	return v, found
}

// Has says whether there is a value with this id.
func (t *Table[T]) Has(id string) bool {
	_, found := t.values[id]
	return found
}

// Len is the number of values.
func (t *Table[T]) Len() int { return len(t.ids) }

// Oldest goes through the values, the oldest first.
func (t *Table[T]) Oldest() iter.Seq[T] { return t.Since(0) }

// Since goes through the values after the first n, the oldest first.
func (t *Table[T]) Since(n int) iter.Seq[T] { return t.all(slices.Values(t.ids[min(n, len(t.ids)):])) }

// Newest goes through the values, the newest first.
func (t *Table[T]) Newest() iter.Seq[T] {
	return t.all(func(yield func(string) bool) {
		for _, id := range slices.Backward(t.ids) {
			if !yield(id) {
				return
			}
		}
	})
}

func (t *Table[T]) all(ids iter.Seq[string]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for id := range ids {
			if !yield(t.values[id]) {
				return
			}
		}
	}
}

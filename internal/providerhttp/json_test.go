package providerhttp_test

import (
	"testing"

	"handover/internal/providerhttp"
)

func TestOnlyOneWholeObjectIsRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{}`:                         true,
		" {\"a\":1}\n":               true,
		"\xef\xbb\xbf{\"a\":1}":      true,
		``:                           false,
		`null`:                       false,
		`[]`:                         false,
		`"text"`:                     false,
		`{"a":1}[`:                   false,
		`{"a":1}{"a":2}`:             false,
		`{"a":1`:                     false,
		"\xef\xbb\xbf":               false,
		"\xef\xbb\xbf\xef\xbb\xbf{}": false,
	} {
		if o, got := providerhttp.ParseObject([]byte(body)); got != want || (o != nil) != want {
			t.Errorf("ParseObject(%q) = %v, %v; want ok %v", body, o, got, want)
		}
	}
}

func TestFieldsAreReadByTheirExactNameAndType(t *testing.T) {
	t.Parallel()
	o, ok := providerhttp.ParseObject([]byte(`{
		"id": "evt_1", "ID": "evt_2", "number": 7, "none": null, "yes": true, "no": false, "quoted": "true",
		"spaced": "a b", "dotted": "a.b", "inner": {"id": "pi_1"}, "strange": {"id": "../x"},
		"list": [{"name": "a"}, 1, null, {"name": "b"}]}`))
	if !ok {
		t.Fatal("not parsed")
	}
	for name, pair := range map[string][2]any{
		"text":                    {o.Text("id"), "evt_1"},
		"a number as text":        {o.Text("number"), ""},
		"null as text":            {o.Text("none"), ""},
		"a missing text":          {o.Text("missing"), ""},
		"id":                      {o.ID("id"), "evt_1"},
		"an id with a dot":        {o.ID("dotted"), ""},
		"a name with a dot":       {o.Name("dotted"), "a.b"},
		"a name with a space":     {o.Name("spaced"), ""},
		"a reference as an id":    {o.Ref("id"), "evt_1"},
		"a reference as object":   {o.Ref("inner"), "pi_1"},
		"a strange reference":     {o.Ref("strange"), ""},
		"a reference of a number": {o.Ref("number"), ""},
		"a field of a non-object": {o.Object("number").Object("x").Text("y"), ""},
		"has":                     {o.Has("id"), true},
		"has null":                {o.Has("none"), false},
		"has missing":             {o.Has("missing"), false},
		"objects in a list":       {len(o.List("list")), 2},
		"a list that is none":     {len(o.List("id")), 0},
		"a missing list":          {len(o.List("missing")), 0},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
	for name, want := range map[string][2]bool{
		"yes": {true, true}, "no": {false, true}, "quoted": {}, "none": {}, "missing": {}, "number": {},
	} {
		if value, ok := o.Bool(name); value != want[0] || ok != want[1] {
			t.Errorf("Bool(%s) = %v, %v; want %v", name, value, ok, want)
		}
	}
}

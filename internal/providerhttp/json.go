package providerhttp

import (
	"bytes"
	"encoding/json"
	"regexp"
)

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	idPattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	namePattern   = regexp.MustCompile(`^[!-~]{1,255}$`)
)

// Object is a JSON object whose fields are read by their exact names. Decoding into a struct would take "ID" for "id".
type Object map[string]json.RawMessage

// ParseObject reads a whole body. A byte order mark in front is skipped; anything but one object is refused.
func ParseObject(body []byte) (Object, bool) {
	o := asObject(bytes.TrimPrefix(body, byteOrderMark))
	return o, o != nil
}

func asObject(raw []byte) Object {
	if len(raw) == 0 {
		return nil
	}
	var o Object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// Has says whether the field is there with a value other than null.
func (o Object) Has(name string) bool {
	raw, found := o[name]
	return found && string(raw) != "null"
}

// Object returns the field when it is an object, else nil, which has no fields.
func (o Object) Object(name string) Object { return asObject(o[name]) }

// List returns the field's elements that are objects.
func (o Object) List(name string) []Object {
	var raw []json.RawMessage
	if len(o[name]) == 0 || json.Unmarshal(o[name], &raw) != nil {
		return nil
	}
	var list []Object
	for _, r := range raw {
		if element := asObject(r); element != nil {
			list = append(list, element)
		}
	}
	return list
}

// Text returns the field when it is a string, else "".
func (o Object) Text(name string) string {
	var s string
	if len(o[name]) == 0 || json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// Bool returns the field and whether it is true or false at all.
func (o Object) Bool(name string) (value, ok bool) {
	switch string(o[name]) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// ID returns the field when it is a string of letters, digits, underscores and dashes, at most 255, else "".
func (o Object) ID(name string) string { return pick(idPattern, o.Text(name)) }

// Name returns the field when it is a string of printable ASCII without spaces, at most 255, else "".
func (o Object) Name(name string) string { return pick(namePattern, o.Text(name)) }

// Ref returns the id of a field that is either an id or an object with one, as Stripe's expandable fields are, else "".
func (o Object) Ref(name string) string {
	if id := o.ID(name); id != "" {
		return id
	}
	return o.Object(name).ID("id")
}

func pick(p *regexp.Regexp, s string) string {
	if p.MatchString(s) {
		return s
	}
	return ""
}

// CleanID returns s when it could be an ID field, else "".
func CleanID(s string) string { return pick(idPattern, s) }

// ValidName says whether s could be a Name field.
func ValidName(s string) bool { return namePattern.MatchString(s) }

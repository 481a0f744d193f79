package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// table reads one TOML table key by key. What is not written leaves the default alone; what nobody has asked for by the
// time of done is a mistake.
type table struct {
	path   string
	values map[string]any
	asked  []string
	p      *problems
	getenv func(string) (string, bool)
}

func (t *table) at(key string) string { return join(t.path, key) }

func (t *table) value(key string) (any, bool) {
	t.asked = append(t.asked, key)
	v, written := t.values[key]
	return v, written
}

// text reads a string into target.
func (t *table) text(key string, target *string) {
	if v, written := t.value(key); written {
		if s, ok := t.asText(t.at(key), v); ok {
			*target = s
		}
	}
}

// texts reads a list of strings. Elements that are wrong stay in it, empty, so that positions keep their meaning.
func (t *table) texts(key string) []string {
	v, written := t.value(key)
	if !written {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.p.add(t.at(key), "must be a list of texts in square brackets, is %s", describe(v))
		return nil
	}
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i], _ = t.asText(element(t.at(key), i), one)
	}
	return texts
}

// resolvable says that the list under key is written, and that every variable in it is set.
func (t *table) resolvable(key string) bool {
	v, written := t.value(key)
	list, ok := v.([]any)
	if !written || !ok {
		return written
	}
	for _, one := range list {
		s, _ := one.(string)
		for _, reference := range variable.FindAllStringSubmatch(s, -1) {
			if _, set := t.getenv(reference[1]); !set {
				return false
			}
		}
	}
	return true
}

// secret reads a secret without the spaces and line ends that come along when it is copied.
func (t *table) secret(key string, target *Secret) {
	var s string
	t.text(key, &s)
	*target = Secret(strings.TrimSpace(s))
}

// secrets reads a list of them.
func (t *table) secrets(key string) []Secret {
	var list []Secret
	for _, s := range t.texts(key) {
		list = append(list, Secret(strings.TrimSpace(s)))
	}
	return list
}

func (t *table) asText(path string, v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		t.p.add(path, "must be text in double quotes, is %s", describe(v))
		return "", false
	}
	return t.expand(path, s)
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}?`)

var variableName = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

// expand replaces each ${NAME} by the environment's value, once: a value is never expanded again.
func (t *table) expand(path, s string) (string, bool) {
	ok := true
	expanded := variable.ReplaceAllStringFunc(s, func(reference string) string {
		if !variableName.MatchString(reference) {
			t.p.add(path, "has a ${ that is no variable; write ${NAME} with letters, digits and underscores")
			ok = false
			return ""
		}
		name := reference[2 : len(reference)-1]
		value, set := t.getenv(name)
		if !set {
			t.p.add(path, "takes the environment variable %s, which is not set; set %s where this process is started", name, name)
			ok = false
		}
		t.p.variables[path] = name
		return value
	})
	return expanded, ok
}

// duration reads a text like "24h".
func (t *table) duration(key string, target *time.Duration) {
	v, written := t.value(key)
	if !written {
		return
	}
	path := t.at(key)
	s, ok := v.(string)
	if !ok {
		t.p.add(path, `must be a duration in double quotes like "10s", "15m" or "24h", is %s`, describe(v))
		return
	}
	if s, ok = t.expand(path, s); !ok {
		return
	}
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		t.p.add(path, `is not a duration; write it like "10s", "15m" or "24h" (a day is "24h")`)
		return
	}
	*target = d
}

// count reads a whole number.
func (t *table) count(key string, target *int) {
	v, written := t.value(key)
	if !written {
		return
	}
	n, ok := v.(int64)
	if !ok || n != int64(int(n)) {
		t.p.add(t.at(key), "must be a whole number without quotes, is %s", describe(v))
		return
	}
	*target = int(n)
}

// number reads a number with or without decimals.
func (t *table) number(key string, target *float64) {
	v, written := t.value(key)
	if !written {
		return
	}
	switch n := v.(type) {
	case int64:
		*target = float64(n)
	case float64:
		*target = n
	default:
		t.p.add(t.at(key), "must be a number without quotes, is %s", describe(v))
	}
}

// table opens the table under key; an empty one when it is not written.
func (t *table) table(key string) *table {
	v, written := t.value(key)
	values, ok := v.(map[string]any)
	if written && !ok {
		t.p.add(t.at(key), "must be a table with settings of its own, is %s", describe(v))
	}
	return t.sub(t.at(key), values)
}

// tables opens the list of tables under key.
func (t *table) tables(key string) []*table {
	v, written := t.value(key)
	if !written {
		return nil
	}
	var list []any
	switch v := v.(type) {
	case []map[string]any:
		for _, one := range v {
			list = append(list, one)
		}
	case []any:
		list = v
	default:
		t.p.add(t.at(key), "must be a list of tables, is %s", describe(v))
	}
	var open []*table
	for i, one := range list {
		path := element(t.at(key), i)
		values, ok := one.(map[string]any)
		if !ok {
			t.p.add(path, "must be a table in braces, is %s", describe(one))
			continue
		}
		open = append(open, t.sub(path, values))
	}
	return open
}

func (t *table) sub(path string, values map[string]any) *table {
	return &table{path: path, values: values, p: t.p, getenv: t.getenv}
}

// topLevel are the settings that stand before the first table. Written further down they belong to the table above them.
var topLevel = []string{"public_url", "link_secrets"}

// done refuses the keys that nobody asked for.
func (t *table) done() {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(t.asked, key) {
			continue
		}
		advice := fmt.Sprintf("known here: %s", strings.Join(t.asked, ", "))
		if t.path != "" && slices.Contains(topLevel, key) {
			advice = "it belongs at the top of the file, before the first [table]"
		} else if meant := nearest(key, t.asked); meant != "" {
			advice = fmt.Sprintf("did you mean %s?", meant)
		}
		t.p.add(t.at(key), "is not a setting; remove or correct it (%s)", advice)
	}
}

func describe(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case int64:
		return "a whole number"
	case float64:
		return "a number with decimals"
	case bool:
		return "true or false"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

package config

import (
	"regexp"
	"strconv"
	"strings"
)

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// join makes the path of a key within a table: `environments.live.api_key`.
func join(path, key string) string {
	if !bareKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// element makes the path of an array's element, from 0: `products[1]`.
func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// locate finds the line of every key and array element in a TOML text that has already been parsed: the parser decodes
// values but does not tell where they stood. On anything it does not understand it stops, and lines are missing.
func locate(text string) map[string]int {
	l := &locator{text: text, line: 1, lines: map[string]int{}, tables: map[string]int{}}
	table := ""
	for {
		l.skipSpace(true)
		switch l.peek() {
		case 0:
			return l.lines
		case '[':
			table = l.header()
		default:
			if !l.pair(table) {
				return l.lines
			}
		}
	}
}

type locator struct {
	text   string
	at     int
	line   int
	lines  map[string]int
	tables map[string]int // how many tables an array of tables has so far, by its path
}

func (l *locator) peek() byte {
	if l.at >= len(l.text) {
		return 0
	}
	return l.text[l.at]
}

func (l *locator) next() {
	if l.peek() == '\n' {
		l.line++
	}
	l.at = min(l.at+1, len(l.text))
}

// skipSpace passes blanks and comments, and line ends where they have no meaning.
func (l *locator) skipSpace(lineEnds bool) {
	for {
		switch c := l.peek(); {
		case c == ' ' || c == '\t' || c == '\r':
			l.next()
		case c == '\n' && lineEnds:
			l.next()
		case c == '#':
			for l.peek() != 0 && l.peek() != '\n' {
				l.next()
			}
		default:
			return
		}
	}
}

func (l *locator) note(path string) {
	if _, noted := l.lines[path]; !noted {
		l.lines[path] = l.line
	}
}

// header reads `[a.b]` or `[[a.b]]` and returns the path of the table that it opens.
func (l *locator) header() string {
	l.next()
	array := l.peek() == '['
	if array {
		l.next()
	}
	keys := l.keys()
	for l.peek() == ']' {
		l.next()
	}
	path := ""
	for i, key := range keys {
		path = join(path, key)
		l.note(path)
		last := i == len(keys)-1
		if last && array {
			l.tables[path]++
		}
		if n := l.tables[path]; n > 0 {
			path = element(path, n-1)
			l.note(path)
		}
	}
	return path
}

// pair reads `key = value` and says whether it was one.
func (l *locator) pair(table string) bool {
	path := table
	for _, key := range l.keys() {
		path = join(path, key)
		l.note(path)
	}
	if l.peek() != '=' {
		return false
	}
	l.next()
	l.value(path)
	return true
}

// keys reads a key, dotted or not.
func (l *locator) keys() []string {
	var keys []string
	for {
		l.skipSpace(false)
		start := l.at
		switch c := l.peek(); c {
		case '"', '\'':
			l.quoted()
			raw := l.text[start:l.at]
			key, err := strconv.Unquote(raw)
			if c == '\'' || err != nil {
				key = strings.Trim(raw, `"'`)
			}
			keys = append(keys, key)
		default:
			for bareKey.MatchString(string(l.peek())) {
				l.next()
			}
			if l.at == start {
				return keys
			}
			keys = append(keys, l.text[start:l.at])
		}
		l.skipSpace(false)
		if l.peek() != '.' {
			return keys
		}
		l.next()
	}
}

func (l *locator) value(path string) {
	l.skipSpace(false)
	switch l.peek() {
	case '"', '\'':
		l.quoted()
	case '[':
		l.next()
		for i := 0; l.skipTo(']'); i++ {
			l.note(element(path, i))
			before := l.at
			l.value(element(path, i))
			if l.at == before {
				return
			}
		}
	case '{':
		l.next()
		for l.skipTo('}') {
			if !l.pair(path) {
				return
			}
		}
	default:
		for !strings.ContainsRune(",]}#\n\x00", rune(l.peek())) {
			l.next()
		}
	}
}

// skipTo passes what stands between two members of an array or inline table. It returns false, and is past the end,
// when there is no further one.
func (l *locator) skipTo(end byte) bool {
	for {
		l.skipSpace(true)
		switch l.peek() {
		case ',':
			l.next()
		case end:
			l.next()
			return false
		case 0:
			return false
		default:
			return true
		}
	}
}

// quoted passes a string of any of the four kinds.
func (l *locator) quoted() {
	quote := l.peek()
	long := strings.Repeat(string(quote), 3)
	if strings.HasPrefix(l.text[l.at:], long) {
		l.at += 3
		for l.peek() != 0 && !strings.HasPrefix(l.text[l.at:], long) {
			l.escape(quote)
			l.next()
		}
		// Up to two quotes may stand directly before the closing three.
		for l.peek() == quote {
			l.next()
		}
		return
	}
	l.next()
	for l.peek() != 0 && l.peek() != quote && l.peek() != '\n' {
		l.escape(quote)
		l.next()
	}
	l.next()
}

// escape passes the backslash of an escaped character, which literal strings do not have.
func (l *locator) escape(quote byte) {
	if l.peek() == '\\' && quote == '"' {
		l.next()
	}
}

package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// problems collects everything that is wrong with one file, so that a shop corrects it in one go.
type problems struct {
	file      string
	lines     map[string]int
	found     []problem
	bad       map[string]bool
	variables map[string]string // the environment variable in a value, by the value's path
}

type problem struct {
	line int
	err  error
}

func newProblems(file, text string) *problems {
	return &problems{file: file, lines: locate(text), bad: map[string]bool{}, variables: map[string]string{}}
}

// add records a problem of the value at path. The first problem of a value hides those that follow from it.
func (p *problems) add(path, format string, args ...any) {
	if p.bad[path] {
		return
	}
	p.bad[path] = true
	line := p.lineOf(path)
	where := p.file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", p.file, line)
	}
	p.found = append(p.found, problem{line, fmt.Errorf("%s: %s: %s", where, path, fmt.Sprintf(format, args...))})
}

// lineOf is the line of the value, or of the table that should have it; 0 when neither is in the file.
func (p *problems) lineOf(path string) int {
	for path != "" {
		if line, known := p.lines[path]; known {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// empty records that the value at path is missing or empty, and which variable made it so.
func (p *problems) empty(path, advice string) {
	switch variable, expanded := p.variables[path]; {
	case expanded:
		p.add(path, "is empty because the environment variable %s is; %s", variable, advice)
	case p.lines[path] > 0:
		p.add(path, "is empty; %s", advice)
	default:
		p.add(path, "is missing; %s", advice)
	}
}

// shown quotes a value in a message, unless it came from the environment and so may be a secret.
func (p *problems) shown(path, value string) string {
	if variable, expanded := p.variables[path]; expanded {
		return "the value of ${" + variable + "}"
	}
	if runes := []rune(value); len(runes) > 60 {
		value = string(runes[:60]) + "…"
	}
	return fmt.Sprintf("%q", value)
}

// err joins what was found, in the order of the lines.
func (p *problems) err() error {
	slices.SortStableFunc(p.found, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var list []error
	for _, one := range p.found {
		list = append(list, one.err)
	}
	return errors.Join(list...)
}

// nearest is the known word that was probably meant, or empty.
func nearest(word string, known []string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "-", "_"))
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of single-letter edits between two words (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

package stack

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// oldestPostgres is the oldest major version that the ledger's SQL is written for.
const oldestPostgres = 14

// Directories with Postgres' server programs, beside the PATH, which by custom has only the client's.
var postgresPlaces = []string{
	"/usr/lib/postgresql/*/bin",         // Debian
	"/usr/pgsql-*/bin",                  // the project's own packages for Red Hat
	"/usr/libexec/postgresql*",          // Alpine
	"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
	"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
}

// binaries are the server programs of one installed Postgres.
type binaries struct {
	major            int
	initdb, postgres string
}

var postgresVersion = regexp.MustCompile(`\) (\d+)`)

// findPostgres lists the usable installations, newest first.
func findPostgres(ctx context.Context) []binaries {
	var places []string
	if path, err := exec.LookPath("postgres"); err == nil {
		places = append(places, filepath.Dir(path))
	}
	for _, pattern := range postgresPlaces {
		matches, _ := filepath.Glob(pattern) // fails on a malformed pattern only
		places = append(places, matches...)
	}
	var found []binaries
	for _, place := range places {
		b := binaries{initdb: filepath.Join(place, "initdb"), postgres: filepath.Join(place, "postgres")}
		if _, err := exec.LookPath(b.initdb); err != nil {
			continue
		}
		text, err := exec.CommandContext(ctx, b.postgres, "--version").Output()
		version := postgresVersion.FindSubmatch(text)
		if err != nil || version == nil {
			continue
		}
		b.major, _ = strconv.Atoi(string(version[1]))
		if b.major >= oldestPostgres {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b binaries) int { return cmp.Compare(b.major, a.major) })
	return found
}

// ensurePostgres is findPostgres after an installation, if there has to be one.
func ensurePostgres(ctx context.Context, out io.Writer) ([]binaries, error) {
	if found := findPostgres(ctx); len(found) > 0 {
		return found, nil
	}
	if err := install(ctx, postgresTool, out); err != nil {
		return nil, err
	}
	found := findPostgres(ctx)
	if len(found) == 0 {
		return nil, errNotThere(postgresTool)
	}
	return found, nil
}

func errNotThere(t tool) error {
	return fmt.Errorf("%s was installed but is still not found, or too old; put a newer one on the PATH", t.what)
}

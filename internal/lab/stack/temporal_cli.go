package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

const (
	temporalModule = "internal/lab/tools/temporal" // pins the release, outside our own module
	temporalImport = "github.com/temporalio/cli"
)

// TemporalOptions says where EnsureTemporal looks and builds.
type TemporalOptions struct {
	Root  string    // the repository
	Cache string    // where the built program is kept, see CacheDir
	Out   io.Writer // hears of a build
}

// CacheDir is where built tools are kept for all clones of this user: $XDG_CACHE_HOME/handover, else ~/.cache/handover,
// else, for a user without a home, in the repository.
func CacheDir(root string) string {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "handover")
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "handover")
	}
	return filepath.Join(root, ".handover", "cache")
}

// EnsureTemporal returns the path of a temporal program that can run a development server: the one that TEMPORAL_CLI
// names, one on the PATH that is new enough, or the pinned official release, which it builds once.
func EnsureTemporal(ctx context.Context, options TemporalOptions) (string, error) {
	if named := os.Getenv("TEMPORAL_CLI"); named != "" {
		if _, err := temporalVersion(ctx, named); err != nil {
			return "", fmt.Errorf("TEMPORAL_CLI: %w", err)
		}
		return filepath.Abs(named)
	}
	if path, err := exec.LookPath("temporal"); err == nil {
		if version, err := temporalVersion(ctx, path); err == nil && version.serves() {
			return filepath.Abs(path)
		}
	}
	dir := filepath.Join(options.Root, temporalModule)
	version, err := PinnedVersion(dir, temporalImport)
	if err != nil {
		return "", err
	}
	target := filepath.Join(options.Cache, "temporal-"+version)
	return target, BuildOnce(ctx, Build{
		Target: target, Dir: dir, Package: temporalImport + "/cmd/temporal",
		Flags: append(unoptimised(), "-ldflags", "-s -w -X "+temporalImport+"/temporalcli.Version="+version),
		Out:   options.Out,
		Notice: fmt.Sprintf("building the Temporal development server once (official release %s, about 1,300 packages: 3 minutes on two cores) …",
			version),
	})
}

// unoptimised are the flags that compile without optimisation what is linked into the program and never runs in a
// development server, because that takes half the time: clouds, other databases, a service mesh.
func unoptimised() []string {
	var flags []string
	for _, module := range []string{
		"cloud.google.com/go", "github.com/aws/aws-sdk-go", "github.com/cncf/xds/go", "github.com/envoyproxy/go-control-plane",
		"github.com/gocql/gocql", "github.com/olivere/elastic/v7", "google.golang.org/api",
	} {
		flags = append(flags, "-gcflags="+module+"/...=-N -l")
	}
	return flags
}

var printedVersion = regexp.MustCompile(`version v?(\d+)\.(\d+)\.(\d+)\S* \(Server (\d+)\.(\d+)\.(\d+)`)

// A release is the version of the program and of the server inside it. A program that was built without its release's
// build script calls itself 0.0.0; then the server's version decides.
type release struct{ cli, server [3]int }

// serves says whether it is at least release 1.5, the oldest that the flags of StartTemporal were checked with.
func (r release) serves() bool {
	if r.cli[0] == 0 {
		return r.server[0] > 1 || r.server[1] >= 29
	}
	return r.cli[0] > 1 || r.cli[1] >= 5
}

func (r release) name() string {
	v := r.cli
	prefix := ""
	if v[0] == 0 {
		v, prefix = r.server, "server-"
	}
	return fmt.Sprintf("%s%d.%d.%d", prefix, v[0], v[1], v[2])
}

func temporalVersion(ctx context.Context, path string) (release, error) {
	text, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return release{}, fmt.Errorf("%s cannot be run: %w", path, err)
	}
	numbers := printedVersion.FindSubmatch(text)
	if numbers == nil {
		return release{}, fmt.Errorf("%s is not the temporal program: it does not print its version", path)
	}
	var r release
	for i := range 3 {
		r.cli[i], _ = strconv.Atoi(string(numbers[1+i]))
		r.server[i], _ = strconv.Atoi(string(numbers[4+i]))
	}
	return r, nil
}

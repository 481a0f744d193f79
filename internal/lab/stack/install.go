package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// A tool is something outside Go's reach that a package manager has.
type tool struct {
	what     string            // for people
	packages map[string]string // the package's name by manager
}

var (
	postgresTool = tool{"Postgres", map[string]string{
		"apt-get": "postgresql", "dnf": "postgresql-server", "apk": "postgresql", "pacman": "postgresql", "brew": "postgresql@17",
	}}
	chromiumTool = tool{"Chromium", map[string]string{
		"apt-get": "chromium", "dnf": "chromium", "apk": "chromium", "pacman": "chromium", "brew": "--cask google-chrome",
	}}
)

// A manager installs packages without asking questions.
type manager struct {
	program string
	update  []string // empty where installing refreshes the lists by itself
	install []string // the package's name follows
	patient []string // options that only matter where nobody watches
	asRoot  bool
}

var managers = []manager{
	{"apt-get", []string{"update", "-qq"}, []string{"install", "-y"}, []string{"-o", "DPkg::Lock::Timeout=120"}, true},
	{"dnf", nil, []string{"install", "-y"}, nil, true},
	{"apk", nil, []string{"add", "--no-cache"}, nil, true},
	{"pacman", nil, []string{"-Sy", "--noconfirm"}, nil, true},
	{"brew", nil, []string{"install"}, nil, false},
}

// install brings the tool in through the package manager when that needs no password, else the error says what to run.
func install(ctx context.Context, t tool, out io.Writer) error {
	if err := ctx.Err(); err != nil {
		return err // it may be there: a look-up that was broken off finds nothing
	}
	m, found := packageManager()
	if !found {
		return fmt.Errorf("%s is not installed and no known package manager is here; install it and put it on the PATH", t.what)
	}
	become, allowed := m.become(ctx)
	if !allowed {
		return fmt.Errorf("%s is not installed; run: %s", t.what, m.byHand(t))
	}
	fmt.Fprintf(out, "%s is missing: installing it with %s (%s) …\n", t.what, m.program, t.packages[m.program])
	if len(m.update) > 0 {
		// Stale lists are no reason to stop: the package may be reachable all the same.
		_, _ = m.run(ctx, become, m.update)
	}
	arguments := slices.Concat(m.install, m.patient, strings.Fields(t.packages[m.program]))
	if text, err := m.run(ctx, become, arguments); err != nil {
		return fmt.Errorf("%s could not be installed (%w); run: %s\n%s", t.what, err, m.byHand(t), lastLines(text, 10))
	}
	return nil
}

func packageManager() (manager, bool) {
	for _, m := range managers {
		if (m.program == "brew") != (runtime.GOOS == "darwin") {
			continue
		}
		if _, err := exec.LookPath(m.program); err == nil {
			return m, true
		}
	}
	return manager{}, false
}

// become is what stands before the command to gain the needed rights.
func (m manager) become(ctx context.Context) (prefix []string, allowed bool) {
	switch {
	case !m.asRoot, os.Geteuid() == 0:
		return nil, true
	case exec.CommandContext(ctx, "sudo", "-n", "true").Run() == nil:
		return []string{"sudo", "-n"}, true
	}
	return nil, false
}

func (m manager) run(ctx context.Context, become, arguments []string) (output string, err error) {
	line := slices.Concat(become, []string{"env", "DEBIAN_FRONTEND=noninteractive", m.program}, arguments)
	text, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput()
	return string(text), err
}

// byHand is the command that a person runs instead.
func (m manager) byHand(t tool) string {
	sudo := ""
	if m.asRoot && os.Geteuid() != 0 {
		sudo = "sudo "
	}
	command := sudo + m.program + " " + strings.Join(m.install, " ") + " " + t.packages[m.program]
	if len(m.update) > 0 {
		command = sudo + m.program + " " + strings.Join(m.update, " ") + " && " + command
	}
	return command
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

package stack

import (
	"context"
	"io"
	"os/exec"
)

// Where a browser that speaks the DevTools protocol is looked for.
var chromiums = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// FindChromium returns the path of an installed Chromium or Chrome. One that cannot even print its version (a placeholder
// for another packaging system, for example) is passed over.
func FindChromium(ctx context.Context) (path string, found bool) {
	for _, name := range chromiums {
		path, err := exec.LookPath(name)
		if err == nil && exec.CommandContext(ctx, path, "--version").Run() == nil {
			return path, true
		}
	}
	return "", false
}

// EnsureChromium returns the path of a Chromium, which it installs when that needs no password. It reports that to out.
func EnsureChromium(ctx context.Context, out io.Writer) (string, error) {
	if path, found := FindChromium(ctx); found {
		return path, nil
	}
	if err := install(ctx, chromiumTool, out); err != nil {
		return "", err
	}
	path, found := FindChromium(ctx)
	if !found {
		return "", errNotThere(chromiumTool)
	}
	return path, nil
}

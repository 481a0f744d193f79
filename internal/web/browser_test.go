package web_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"handover/internal/lab/stack/testenv"
)

// browser is one tab and what it did behind the page.
type browser struct {
	ctx context.Context

	mu    sync.Mutex
	hosts map[string]bool
	noise []string // console errors, exceptions, refused policies
	loads int      // documents fetched by navigation
}

// openBrowser starts a Chromium of the test's own.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	binary := testenv.Chromium(t)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.Headless, chromedp.DisableGPU,
		chromedp.ExecPath(binary), chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	// Not the test's own context: that one ends before the cleanup, which closes the browser gently.
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	tab, _ := chromedp.NewContext(allocator)
	b := &browser{ctx: tab, hosts: map[string]bool{}}
	if err := chromedp.Listen(tab, b.heard); err != nil {
		t.Fatalf("Chromium at %s did not start: %v", binary, err)
	}
	t.Cleanup(func() {
		defer stop()
		closing, done := context.WithTimeout(tab, 10*time.Second)
		defer done()
		if err := chromedp.Cancel(closing); err != nil {
			t.Logf("Chromium did not close gently: %v", err)
		}
	})
	b.do(t, call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{}))
	return b
}

type action = chromedp.Action[chromedp.Void]

// call makes an action of a command of the protocol.
func call[P, R any](command cdp.Command[P, R], params P) action {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	})
}

func (b *browser) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" {
			b.hosts[u.Host] = true
		}
		if e.Type == network.ResourceTypeDocument {
			b.loads++
		}
	case *log.EventEntryAdded:
		b.noise = append(b.noise, string(e.Entry.Level)+": "+e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.noise = append(b.noise, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.noise = append(b.noise, "console."+string(e.Type))
	}
}

// patience is longer than anything that these tests wait for.
const patience = time.Minute

func (b *browser) do(t *testing.T, actions ...action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// ask runs one action that answers.
func ask[T any](t *testing.T, b *browser, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	answer, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// quiet checks what the tab did behind the page.
func (b *browser) quiet(t *testing.T, server *httptest.Server) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.noise) > 0 {
		t.Errorf("the browser complains: %q", b.noise)
	}
	for host := range b.hosts {
		if "http://"+host != server.URL {
			t.Errorf("a request went to %s", host)
		}
	}
}

// until waits in the page for the headline, without loading anything.
func until(headline string) action {
	return chromedp.Poll[chromedp.Void](`document.querySelector("h1").textContent === `+"`"+headline+"`",
		chromedp.WithPollingInterval(50*time.Millisecond))
}

// forgive drops the complaints that a test provoked.
func (b *browser) forgive(holding string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noise = slices.DeleteFunc(b.noise, func(n string) bool { return strings.Contains(n, holding) })
}

// picture keeps a picture of the whole page where HANDOVER_SCREENSHOTS says.
func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("HANDOVER_SCREENSHOTS")
	if dir == "" {
		return
	}
	png := ask(t, b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

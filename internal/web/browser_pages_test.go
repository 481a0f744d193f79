package web_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"handover/internal/lab/await"
	"handover/internal/order"
)

func TestPageTurnsReadyWithoutReload(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	server := httptest.NewServer(s)
	defer server.Close()
	b := openBrowser(t)

	b.do(t, chromedp.Navigate(server.URL+orderPath), until("Waiting for payment confirmation"))
	ask(t, b, chromedp.Evaluate[bool](`window.sameDocument = true`))
	s.set(bought(facts("confirmed", "pending", "pending", ""), func(v *order.View) { v.Grants, v.Emails = nil, nil }))
	b.do(t, until("Preparing your download"))

	// The page outlives a ledger that is away for a moment.
	s.away(context.DeadlineExceeded)
	await.True(t, "a request is answered 503", func() bool { return strings.Contains(s.log.String(), `"status":503`) })
	s.set(bought())
	s.away(nil)
	b.do(t, until("Your download is ready"))

	if !ask(t, b, chromedp.Evaluate[bool](`window.sameDocument === true`)) {
		t.Error("the page was loaded again")
	}
	announced, title := ask(t, b, chromedp.Evaluate[string](`document.getElementById("announce").textContent`)), ask(t, b, chromedp.Title())
	if announced != "Your download is ready" || !strings.HasPrefix(title, "Your download is ready") {
		t.Errorf("announced %q, title %q", announced, title)
	}
	file := ask(t, b, chromedp.Evaluate[string](`fetch(document.querySelector("a.button").href).then(a => a.text())`, chromedp.EvalAwaitPromise))
	if file != "content of books/field-guide.pdf" {
		t.Errorf("the button leads to %q", file)
	}
	b.mu.Lock()
	if b.loads != 1 {
		t.Errorf("%d documents were loaded", b.loads)
	}
	b.mu.Unlock()
	b.forgive("503") // Chromium itself notes a failed request
	b.quiet(t, server)
}

const askedForOrder = `"route":"GET /orders/{environment}/{session}"`

func TestSettledPageAsksNothingMore(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	server := httptest.NewServer(s)
	defer server.Close()
	b := openBrowser(t)
	b.do(t, chromedp.Navigate(server.URL+orderPath), until("Your download is ready"))
	// The first question of a live page comes after a second.
	ask(t, b, chromedp.Evaluate[bool](`new Promise(done => setTimeout(() => done(true), 1500))`, chromedp.EvalAwaitPromise))
	if n := strings.Count(s.log.String(), askedForOrder); n != 1 {
		t.Errorf("the page was asked for %d times", n)
	}
	b.quiet(t, server)
}

func TestPageWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	server := httptest.NewServer(s)
	defer server.Close()
	b := openBrowser(t)
	b.do(t, call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(server.URL+orderPath))
	s.set(bought())
	await.True(t, "the page asks twice", func() bool { return strings.Count(s.log.String(), askedForOrder) >= 2 })
	b.do(t, chromedp.WaitVisible(chromedp.CSS("a.button")))
	b.quiet(t, server)
}

func TestSendItAgainInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	s.resend.Sent = true
	server := httptest.NewServer(s)
	defer server.Close()
	b := openBrowser(t)
	b.do(t, chromedp.Navigate(server.URL+orderPath), chromedp.Click(chromedp.CSS("form button")), chromedp.WaitVisible(chromedp.CSS(".notice")))
	notice := ask(t, b, chromedp.Text(chromedp.CSS(".notice")))
	if s.resent != 1 || !strings.Contains(notice, "sending it again") {
		t.Errorf("asked %d times, notice %q", s.resent, notice)
	}
	b.quiet(t, server)
}

type sight struct{ name, path string }

// sights puts an order of every kind into the shop and returns the pages to look at.
func sights(s *shop) []sight {
	var all []sight
	show := func(name, session string, v order.View) {
		v.Key = order.Key{Environment: "test", Session: "cs_test_" + session}
		s.set(v)
		all = append(all, sight{name, "/orders/" + v.Key.String()})
	}
	for _, state := range states {
		show(state.name, state.name, state.view)
	}
	show("no_address", "no_address", bought(facts("confirmed", "granted", "needs_attention", ""), func(v *order.View) { v.Address, v.Emails = "", nil }))
	show("after_the_window", "late", bought(func(v *order.View) {
		old := noon.Add(-48 * time.Hour)
		v.ConfirmedAt = &old
	}))
	show("long", strings.Repeat("a1B2c3", 9), bought(func(v *order.View) {
		v.Grants = append(v.Grants, order.Grant{ID: 9, Product: "course", Kind: "download", State: order.AccessGranted,
			File: "a-file-with-a-very-long-name-that-does-not-fit-on-any-phone-in-the-world-second-edition.epub"},
			order.Grant{ID: 10, Product: "guide", Kind: "license", State: order.AccessGranted, Secret: strings.Repeat("ABCDE-", 12) + "F"},
			order.Grant{ID: 11, Product: "course", Kind: "github", State: order.AccessGranted})
		v.Items = append(v.Items, order.Item{Product: "course", Quantity: 3})
	}))
	all[len(all)-1].path += "?sent=1"
	return append(all, sight{"link", "/d/" + token}, sight{"not_found", "/nothing"}, sight{"home", "/"})
}

func TestEveryPageFitsItsScreen(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	pages := sights(s)
	server := httptest.NewServer(s)
	defer server.Close()
	b := openBrowser(t)
	for _, screen := range []struct {
		name, scheme  string
		width, height int64
	}{{"phone", "light", 390, 844}, {"phone-dark", "dark", 390, 844}, {"small", "light", 320, 568}, {"desk", "light", 1280, 900}} {
		b.do(t, chromedp.EmulateViewport(screen.width, screen.height),
			call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: screen.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}))
		for _, page := range pages {
			b.do(t, chromedp.Navigate(server.URL+page.path))
			over := ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
			if over > 0 {
				t.Errorf("%s on %s is %d pixels too wide", page.name, screen.name, over)
			}
			b.picture(t, screen.name+"-"+page.name)
		}
	}
	b.forgive("404") // of the page that is meant to be one
	b.quiet(t, server)
}

package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handover/internal/files"
	"handover/internal/order"
	"handover/internal/web"
)

func TestDownloadAsksTheLedgerEveryTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		view   order.View
		status int
		says   string
	}{
		{"granted", bought(), 200, "content of books/field-guide.pdf"},
		{"granted, email unconfirmed", bought(facts("confirmed", "granted", "uncertain", "")), 200, "content of"},
		{"granted while another step needs attention", bought(facts("confirmed", "needs_attention", "pending", "")), 200, "content of"},
		{"refunded", bought(facts("confirmed", "revoked", "accepted", ""), grantsAre("revoked"), refunded), 410, "Refunded: access has ended"},
		{"refund under way", bought(facts("confirmed", "revoked", "accepted", ""), refunded), 410, "Refunded: access has ended"},
		{"ended by a person", bought(facts("confirmed", "revoked", "accepted", ""), grantsAre("revoked")), 410, "Access has ended"},
		{"only this grant revoked", bought(grantsAre("revoked"), refunded), 410, "Refunded: access has ended"},
		{"held", bought(facts("confirmed", "held", "accepted", ""), grantsAre("held")), 403, "On hold while the payment is being disputed"},
		{"not yet", bought(facts("confirmed", "pending", "pending", ""), grantsAre("pending")), 403, "Not ready yet"},
		{"not paid", bought(facts("pending", "pending", "pending", "")), 403, "Not ready yet"},
	}
	for _, test := range tests {
		s := newShop(t)
		s.set(test.view)
		for _, path := range []string{orderPath + "/downloads/7", "/d/" + token + "/7"} {
			w := get(s, path)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) {
				t.Errorf("%s, %s: got %d, want %d with %q", test.name, path, w.Code, test.status, test.says)
			}
		}
	}
}

// The page and the file's own address say the same of why access has ended.
func TestOnlyAFullRefundIsCalledOne(t *testing.T) {
	t.Parallel()
	const refund = "Refunded: access has ended"
	for name, c := range map[string]struct {
		change func(*order.View)
		full   bool
	}{
		"nothing refunded":                  {func(*order.View) {}, false},
		"a part, and a person's revoke":     {func(v *order.View) { v.Refunded = 500 }, false},
		"a part, and a lost dispute":        {func(v *order.View) { v.Refunded, v.Dispute = 500, order.DisputeLost }, false},
		"all":                               {refunded, true},
		"all of less than the total":        {func(v *order.View) { v.Paid, v.Refunded = 2000, 2000 }, true},
		"the total, of more that was taken": {func(v *order.View) { v.Paid, v.Refunded = 3000, 2900 }, false},
	} {
		s := newShop(t)
		s.set(bought(facts("confirmed", "revoked", "accepted", ""), grantsAre("revoked"), c.change))
		for _, path := range []string{orderPath, orderPath + "/downloads/7", "/d/" + token, "/d/" + token + "/7"} {
			text := get(s, path).Body.String()
			if strings.Contains(text, refund) != c.full || !strings.Contains(strings.ToLower(text), "access has ended") {
				t.Errorf("%s, %s: want a full refund %v: %s", name, path, c.full, words(text))
			}
		}
	}
}

func TestOnlyDownloadsOfTheOrderAreFound(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	for _, number := range []string{"8", "9", "07", "+7", "-7", "x", "7.pdf", "99999999999999999999"} {
		for _, path := range []string{orderPath + "/downloads/", "/d/" + token + "/"} {
			if w := get(s, path+number); w.Code != 404 {
				t.Errorf("%s%s: got %d", path, number, w.Code)
			}
		}
	}
	if w := get(s, "/orders/test/cs_test_2/downloads/7"); w.Code != 404 {
		t.Errorf("another order: got %d", w.Code)
	}
}

func TestAfterTheWindowOnlyTheLinkDownloads(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	s.now = noon.Add(400 * 24 * time.Hour)
	if w := get(s, orderPath+"/downloads/7"); w.Code != 403 || !strings.Contains(w.Body.String(), "link in your email") {
		t.Errorf("by session: got %d", w.Code)
	}
	if w := get(s, "/d/"+token+"/7"); w.Code != 200 {
		t.Errorf("by link: got %d", w.Code)
	}
}

func TestFileThatTheBucketLacksIsOursToMend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought(func(v *order.View) { v.Grants[0].File = "missing.pdf" }))
	w := get(s, orderPath+"/downloads/7")
	if w.Code != 503 || !strings.Contains(w.Body.String(), "We are looking into it") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	log := s.log.String()
	if !strings.Contains(log, `"order":"test/cs_test_1"`) || !strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, "alex") {
		t.Errorf("log: %s", log)
	}
}

func TestLinkPage(t *testing.T) {
	t.Parallel()
	wants := map[string]int{"ended": 410, "on_hold": 403}
	for _, state := range states {
		s := newShop(t)
		s.set(state.view)
		s.now = noon.Add(1000 * time.Hour)
		want := max(wants[state.name], 200)
		w := get(s, "/d/"+token)
		text := words(w.Body.String())
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", state.name, w.Code, want)
		}
		offers := strings.HasPrefix(state.name, "ready")
		if strings.Contains(w.Body.String(), `href="/d/`+token+`/7"`) != offers || strings.Contains(text, "K3Y5") != offers {
			t.Errorf("%s: offers is not %v: %s", state.name, offers, text)
		}
	}
}

func TestUnknownLinksLookAlike(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	other := "B" + token[1:]
	first := get(s, "/d/"+other).Body.String()
	for _, path := range []string{"/d/" + other, "/d/" + other + "/7", "/d/short", "/d/" + token + "A", "/d/" + strings.Repeat("!", 43), "/d/short/7"} {
		if w := get(s, path); w.Code != 404 || w.Body.String() != first {
			t.Errorf("%s: got %d, or another page", path, w.Code)
		}
	}
}

func TestFetchingALinkUsesNothingUp(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			get(s, "/d/"+token, "Sec-Purpose", "prefetch")
			get(s, "/d/"+token+"/7", "User-Agent", "MailScanner/1.0")
			send(s, http.MethodHead, "/d/"+token+"/7", nil)
		})
	}
	wait.Wait()
	if w := get(s, "/d/"+token+"/7"); w.Code != 200 {
		t.Errorf("got %d", w.Code)
	}
}

func TestRangeAndResumeThroughTheWholeServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := strings.Repeat("0123456789", 100_000)
	if err := os.WriteFile(filepath.Join(dir, "Größe.epub"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	bucket, err := files.Open(t.Context(), "file://"+dir)
	if err != nil {
		t.Fatal(err)
	}
	s := newShop(t, func(d *web.Deps, _ *web.Config) { d.Files = bucket })
	s.set(bought(func(v *order.View) { v.Grants[0].File = "Größe.epub" }))
	server := httptest.NewServer(s)
	defer server.Close()

	whole := get(s, "/d/"+token+"/7")
	if whole.Code != 200 || whole.Body.String() != content || whole.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("whole: got %d, %d bytes, %v", whole.Code, whole.Body.Len(), whole.Header())
	}
	if got := whole.Header().Get("Content-Disposition"); !strings.Contains(got, "filename*=utf-8''Gr%C3%B6%C3%9Fe.epub") {
		t.Errorf("disposition %s", got)
	}
	for range 100 {
		if w := get(s, "/d/"+token+"/7", "Range", "bytes=0-99"); w.Code != 206 || w.Body.String() != content[:100] {
			t.Fatalf("range: got %d", w.Code)
		}
	}
	rest := get(s, orderPath+"/downloads/7", "Range", "bytes=500000-", "If-Range", whole.Header().Get("ETag"))
	if rest.Code != 206 || rest.Body.String() != content[500_000:] {
		t.Errorf("resume: got %d", rest.Code)
	}
	beyond := get(s, "/d/"+token+"/7", "Range", "bytes=9000000-")
	if beyond.Code != 416 || beyond.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("beyond the end: got %d %v", beyond.Code, beyond.Header())
	}
	s.set(bought(grantsAre(order.AccessRevoked)))
	if w := get(s, "/d/"+token+"/7", "Range", "bytes=500000-"); w.Code != 410 {
		t.Errorf("resume after the refund: got %d", w.Code)
	}
}

// The session id opens a page of its own, so whoever has only the link learns the order's reference and no session id.
func TestTheLinkTellsTheReferenceAndNoSession(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, state := range states {
		v := state.view
		v.Reference = "HO-7K3M9QXT"
		s.set(v)
		for _, accept := range []string{"text/html", "application/json"} {
			w := get(s, "/d/"+token, "Accept", accept)
			if body := w.Body.String(); !strings.Contains(body, "HO-7K3M9QXT") || strings.Contains(body, v.Key.Session) {
				t.Errorf("%s, %s: %d\n%s", state.name, accept, w.Code, body)
			}
		}
	}
}

// A page of another site cannot show a paid file as a part of itself; a link on it that somebody follows is fine.
func TestPaidFilesAreNotEmbedded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header []string
		want   int
	}{
		"from our own page":         {[]string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "empty"}, 200},
		"typed":                     {[]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Dest", "document"}, 200},
		"followed from another":     {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "document"}, 200},
		"a video on another's page": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "video"}, 403},
		"a script's":                {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "empty"}, 403},
		"an old browser":            {nil, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.set(bought())
			if got := get(s, orderPath+"/downloads/7", c.header...); got.Code != c.want {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
}

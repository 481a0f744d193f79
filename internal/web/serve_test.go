package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"handover/internal/web"
)

func TestAccessLogHoldsNoLinkAndNoQuery(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	for _, path := range []string{"/d/" + token, "/d/" + token + "/7", "/d/" + token + "/7/" + token, "/d//" + token, orderPath + "?sent=1&key=" + token, "/" + token} {
		get(s, path)
	}
	log := s.log.String()
	if strings.Contains(log, token) || strings.Contains(log, "sent=1") || strings.Contains(log, "K3Y5") || strings.Contains(log, "alex") {
		t.Errorf("log: %s", log)
	}
	var line struct {
		Msg, Method, Route, Order string
		Status                    int
	}
	first, _, _ := strings.Cut(log, "\n")
	if err := json.Unmarshal([]byte(first), &line); err != nil {
		t.Fatal(err)
	}
	if line.Msg != "request" || line.Method != "GET" || line.Route != "GET /d/{token}" || line.Order != "test/cs_test_1" || line.Status != 200 {
		t.Errorf("got %+v", line)
	}
	if lines := strings.Count(log, `"msg":"request"`); lines != 6 {
		t.Errorf("%d lines for 6 requests", lines)
	}
}

func TestPanicIsAnHonestPage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.panicCause = "secret text"
	w := get(s, orderPath)
	if w.Code != 500 || !strings.Contains(w.Body.String(), "Something went wrong") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	log := s.log.String()
	if strings.Contains(log, "secret text") || !strings.Contains(log, "request panicked") || !strings.Contains(log, `"status":500`) {
		t.Errorf("log: %s", log)
	}
}

func TestSmallRoutes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for path, want := range map[string]struct {
		status      int
		kind, holds string
	}{
		"/":                 {200, "text/html", "Example Shop"},
		"/robots.txt":       {200, "text/plain", "Disallow: /webhooks/\n"},
		"/favicon.ico":      {204, "", ""},
		"/assets/order.css": {200, "text/css", "--ground"},
		"/assets/order.js":  {200, "text/javascript", "use strict"},
		"/assets/other.js":  {404, "text/html", "nothing here"},
		"/assets/..":        {200, "text/html", "Example Shop"}, // is "/"
		"/assets":           {404, "text/html", "nothing here"},
	} {
		w := get(s, path)
		if w.Code != want.status || !strings.HasPrefix(w.Header().Get("Content-Type"), want.kind) || !strings.Contains(w.Body.String(), want.holds) {
			t.Errorf("%s: got %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
	for method, path := range map[string]string{"POST": orderPath, "DELETE": "/d/" + token, "OPTIONS": orderPath} {
		if w := send(s, method, path, nil); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s %s: got %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestPublicPathIsBeforeEveryLink(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(_ *web.Deps, c *web.Config) { c.PublicURL = "https://example.com/shop" })
	s.set(bought())
	for _, path := range []string{orderPath, "/shop" + orderPath} { // with a proxy that takes the path off, and one that does not
		w := get(s, path)
		for _, want := range []string{`href="/shop/orders/test/cs_test_1/downloads/7"`, `href="/shop/assets/order.css`, `action="/shop/orders/test/cs_test_1/resend"`} {
			if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: got %d without %s", path, w.Code, want)
			}
		}
	}
	plain := newShop(t, func(_ *web.Deps, c *web.Config) { c.PublicURL = "http://localhost:8080" })
	if got := get(plain, "/").Header().Get("Strict-Transport-Security"); got != "" {
		t.Errorf("without https: Strict-Transport-Security %q", got)
	}
	if w := get(s, "/shop"); w.Code != 200 {
		t.Errorf("home: got %d", w.Code)
	}
}

func TestNewRefusesHalfAConfiguration(t *testing.T) {
	t.Parallel()
	if _, err := web.New(web.Deps{}, web.Config{PublicURL: "https://example.com"}); err == nil {
		t.Error("dependencies missing and no error")
	}
	if _, err := web.New(web.Deps{}, web.Config{PublicURL: "example.com"}); err == nil || !strings.Contains(err.Error(), "public_url") {
		t.Errorf("got %v", err)
	}
}

func TestServerCutsSlowHeadersAndNoDownload(t *testing.T) {
	t.Parallel()
	server := web.NewServer(http.NotFoundHandler(), "127.0.0.1:0")
	if server.ReadHeaderTimeout == 0 || server.IdleTimeout == 0 || server.MaxHeaderBytes == 0 || server.WriteTimeout != 0 {
		t.Errorf("got %+v", server)
	}
}

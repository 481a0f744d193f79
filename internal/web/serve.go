package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"handover/internal/order"
	"handover/internal/web/respond"
)

const (
	// bodyTime is how long a client may take to send its whole body.
	bodyTime = 10 * time.Second
	// answerTime is how long a client may take to read a page. Downloads move it on as they progress.
	answerTime = 60 * time.Second
)

// NewServer returns the server for the handler. It has no limit on a whole response, downloads take as long as they
// take; slow headers, bodies and pages are cut off.
func NewServer(h http.Handler, addr string) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
}

// ServeHTTP routes by the cleaned path and writes one line a request. The line has the route's pattern, never the path:
// that may be a buyer's link.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	out := &respond.Recorder{ResponseWriter: w}
	r = s.clean(r)
	defer func() {
		s.recovered(out, r, recover())
		s.log.LogAttrs(r.Context(), slog.LevelInfo, "request", s.line(out, r, time.Since(began))...)
		if out.Abort {
			panic(http.ErrAbortHandler)
		}
	}()

	control := http.NewResponseController(w)
	// Writers without deadlines exist in tests only.
	_ = control.SetWriteDeadline(began.Add(answerTime))
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(began.Add(bodyTime))
	}
	s.secure(w.Header())
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.unrouted(out, r)
		return
	}
	s.mux.ServeHTTP(out, r)
}

// clean puts the path into the one spelling the routes have. ServeMux would redirect to it instead, and payment
// providers do not follow redirects.
func (s *server) clean(r *http.Request) *http.Request {
	u := *r.URL
	u.Path = path.Clean("/" + u.Path)
	if rest, found := strings.CutPrefix(u.Path+"/", s.base+"/"); found && s.base != "" {
		u.Path = path.Clean("/" + rest)
	}
	u.RawPath = ""
	copied := *r
	copied.URL = &u
	return &copied
}

// unrouted answers what no route takes as ServeMux classifies it: not found, or another method.
func (s *server) unrouted(w http.ResponseWriter, r *http.Request) {
	classified := &headerOnly{header: http.Header{}}
	s.mux.ServeHTTP(classified, r)
	if allow := classified.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		s.pages.MethodNotAllowed(w, r)
		return
	}
	s.pages.NotFound(w, r)
}

func (s *server) recovered(w *respond.Recorder, r *http.Request, cause any) {
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		w.Abort = true
		return
	}
	// The text of a panic may hold anything; that of the runtime's own errors holds indexes and types.
	text := fmt.Sprintf("%T", cause)
	if err, own := cause.(runtime.Error); own {
		text = err.Error()
	}
	s.log.Error("request panicked", "route", r.Pattern, "panic", text, "stack", string(debug.Stack()))
	if w.Status != 0 {
		w.Abort = true
		return
	}
	s.pages.Failed(w, r)
}

func (s *server) line(w *respond.Recorder, r *http.Request, took time.Duration) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("method", r.Method),
		slog.String("route", r.Pattern),
		slog.Int("status", w.Status),
		slog.Int64("bytes", w.Bytes),
		slog.Int64("duration_ms", took.Milliseconds()),
	}
	if w.Order != (order.Key{}) {
		attrs = append(attrs, slog.String("order", w.Order.String()))
	}
	return attrs
}

// secure sets what every response has. Everything on our pages is ours, and nobody else's page may show it.
func (s *server) secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
		"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if s.https {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// headerOnly takes an answer's header and drops the rest.
type headerOnly struct{ header http.Header }

func (h *headerOnly) Header() http.Header         { return h.header }
func (h *headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (h *headerOnly) WriteHeader(int)             {}

// Package respond writes the web server's responses: JSON, and what the request's log line needs to know of a response.
package respond

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"handover/internal/order"
)

// JSON writes v as the whole response.
func JSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types come here
	}
	body = append(body, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// WantsJSON says whether the client asks for JSON rather than a page: it names JSON, and no page before it. Weights are not
// read, because no client that polls the order writes them against its own order.
func WantsJSON(r *http.Request) bool {
	read := 0
	for entry := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if read++; read > mostRanges {
			return false
		}
		name, _, _ := strings.Cut(entry, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "application/json":
			return true
		case "text/html":
			return false
		}
	}
	return false
}

// mostRanges is how many entries of an Accept header are read.
const mostRanges = 16

// Recorder remembers what the log line needs.
type Recorder struct {
	http.ResponseWriter
	Status int // 0 until the header is sent
	Bytes  int64
	Order  order.Key
	Abort  bool // the response cannot be finished: cut the connection
}

// WriteHeader sends the header and remembers the status.
func (w *Recorder) WriteHeader(status int) {
	if w.Status == 0 && status >= 200 {
		w.Status = status
		if w.Header().Get("Cache-Control") == "" {
			w.Header().Set("Cache-Control", "no-store") // net/http's own errors drop it
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body and counts its bytes.
func (w *Recorder) Write(p []byte) (int, error) {
	if w.Status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// About puts the order into the request's log line.
func About(w http.ResponseWriter, key order.Key) {
	if r, ours := w.(*Recorder); ours {
		r.Order = key
	}
}

// Started says whether the response's header has gone out.
func Started(w http.ResponseWriter) bool {
	r, ours := w.(*Recorder)
	return ours && r.Status != 0
}

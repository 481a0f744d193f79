package core

import (
	"bytes"
	"maps"
	"net/http"
)

// recording keeps an answer so that it can be given later, or never.
type recording struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (rec *recording) Header() http.Header { return rec.header }

func (rec *recording) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
}

func (rec *recording) Write(b []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	return rec.body.Write(b)
}

func (rec *recording) replay(w http.ResponseWriter) {
	maps.Copy(w.Header(), rec.header)
	if rec.status != 0 {
		w.WriteHeader(rec.status)
	}
	_, _ = w.Write(rec.body.Bytes())
}

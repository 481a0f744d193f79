package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The errors that every fake returns.
var (
	ErrUnknown = errors.New("unknown")
	ErrNoURL   = errors.New("no webhook address is configured")
)

// FaultRoutes let a person order faults while the shop runs.
func (c *Core) FaultRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /control/faults", func(w http.ResponseWriter, r *http.Request) {
		f, err := readJSON[Fault](r)
		if err == nil {
			f, err = c.AddFault(f)
		}
		if err != nil {
			WriteJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		WriteJSON(w, http.StatusCreated, f)
	})
	mux.HandleFunc("GET /control/faults", func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, http.StatusOK, c.Faults()) })
	mux.HandleFunc("DELETE /control/faults", func(w http.ResponseWriter, _ *http.Request) {
		c.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
}

// MaxBody bounds every request's body.
const MaxBody = 16 << 20

// readJSON is strict: a misspelt field in a test must not pass for a default.
func readJSON[T any](r *http.Request) (v T, err error) {
	d := json.NewDecoder(io.LimitReader(r.Body, MaxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("request body: %w", err)
	}
	return v, nil
}

// Patch applies the fields that a JSON object names to a value and returns their names. Fields of fresh are emptied
// first where they are named: a decoder writes into the slices and maps that it finds.
func Patch(patch json.RawMessage, v any, fresh map[string]func()) (named map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(patch, &named); err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	for name, empty := range fresh {
		if _, given := named[name]; given {
			empty()
		}
	}
	d := json.NewDecoder(strings.NewReader(string(patch)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return named, nil
}

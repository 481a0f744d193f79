package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The errors of the control API that have a status of their own; every other one is a bad request.
var (
	ErrUnknown = errors.New("unknown")
	ErrNoURL   = errors.New("no webhook address is configured: set it with PUT /control/config")
)

// Control serves one command of the control API: the body is In, and what do returns is the response.
func Control[In, Out any](status int, do func(*http.Request, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, err := readJSON[In](r)
		if err != nil {
			ControlError(w, err)
			return
		}
		out, err := do(r, in)
		if err != nil {
			ControlError(w, err)
			return
		}
		WriteJSON(w, status, out)
	}
}

// ControlSet serves a command that has nothing to return.
func ControlSet[In any](set func(*http.Request, In) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, err := readJSON[In](r)
		if err == nil {
			err = set(r, in)
		}
		if err != nil {
			ControlError(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// ControlGet serves what can be read.
func ControlGet[Out any](get func(*http.Request) (Out, error)) http.HandlerFunc {
	return Control(http.StatusOK, func(r *http.Request, _ struct{}) (Out, error) { return get(r) })
}

// ControlError is how the control API says no.
func ControlError(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, ErrUnknown):
		status = http.StatusNotFound
	case errors.Is(err, ErrNoURL):
		status = http.StatusConflict
	}
	WriteJSON(w, status, map[string]string{"error": err.Error()})
}

// ControlRoutes adds the part of the control API that is about no provider.
func (c *Core) ControlRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /control/faults", Control(http.StatusCreated, func(_ *http.Request, f Fault) (Fault, error) { return c.AddFault(f) }))
	mux.HandleFunc("GET /control/faults", ControlGet(func(*http.Request) ([]Fault, error) { return c.Faults(), nil }))
	mux.HandleFunc("DELETE /control/faults", ControlSet(func(*http.Request, struct{}) error { c.ClearFaults(); return nil }))
	mux.HandleFunc("POST /control/faults/release", ControlSet(func(*http.Request, struct{}) error { c.Release(); return nil }))
	mux.HandleFunc("GET /control/wait", c.controlWait)
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// host runs what is written for a test outside of one: the crash tests' shop asks for nothing but this.
type host struct {
	testing.TB // never called: what is missing here is not used by the shop

	ctx    context.Context
	cancel context.CancelFunc
	out    io.Writer

	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

func newHost(ctx context.Context, out io.Writer) *host {
	h := &host{out: out}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

// do runs the work on a goroutine of its own, which Fatal ends, and then everything that Cleanup was given.
func (h *host) do(work func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	<-done
	h.cancel()
	h.mu.Lock()
	cleanups := h.cleanups
	h.mu.Unlock()
	for _, clean := range slices.Backward(cleanups) {
		clean()
	}
	if h.Failed() {
		return errors.New("it could not be run to its end")
	}
	return nil
}

func (h *host) Helper()                  {}
func (h *host) Context() context.Context { return h.ctx }

func (h *host) Cleanup(clean func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cleanups = append(h.cleanups, clean)
}

func (h *host) Log(arguments ...any)                 { fmt.Fprintln(h.out, arguments...) }
func (h *host) Logf(format string, arguments ...any) { fmt.Fprintf(h.out, format+"\n", arguments...) }

func (h *host) Error(arguments ...any) { h.Log(arguments...); h.Fail() }
func (h *host) Errorf(format string, arguments ...any) {
	h.Logf(format, arguments...)
	h.Fail()
}

func (h *host) Fatal(arguments ...any) { h.Log(arguments...); h.FailNow() }
func (h *host) Fatalf(format string, arguments ...any) {
	h.Logf(format, arguments...)
	h.FailNow()
}

func (h *host) Fail() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = true
}

func (h *host) FailNow() {
	h.Fail()
	runtime.Goexit()
}

func (h *host) Failed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

package soak

import "handover/internal/lab/stack"

// steadyURL is an address that nobody takes while its process is down.
func (r *run) steadyURL() string {
	r.t.Helper()
	port, err := stack.SteadyPort()
	if err != nil {
		r.t.Fatal(err)
	}
	return "http://" + stack.Loopback(port)
}

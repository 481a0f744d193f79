package soak

import "handover/internal/dev"

// steadyURL is an address that nobody takes while its process is down.
func (r *run) steadyURL() string {
	r.t.Helper()
	port, err := dev.SteadyPort()
	if err != nil {
		r.t.Fatal(err)
	}
	return "http://" + dev.Loopback(port)
}

package soak

import (
	"errors"
	"math/rand/v2"

	"handover/internal/dev"
)

// The ports lie below those that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): while a
// process is down, nobody must take its port by chance.
const (
	lowestPort  = 10_000
	highestPort = 32_000
)

// steadyPort is a free port that stays free while nobody listens on it.
func steadyPort() (int, error) {
	for range 100 {
		wanted := lowestPort + rand.IntN(highestPort-lowestPort)
		if port, err := dev.FreePort(wanted); err != nil || port == wanted {
			return port, err
		}
	}
	return 0, errors.New("no free port found")
}

// steadyURL is an address on such a port.
func (r *run) steadyURL() string {
	r.t.Helper()
	port, err := steadyPort()
	if err != nil {
		r.t.Fatal(err)
	}
	return "http://" + dev.Loopback(port)
}

package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// FreePort returns the first of the preferred loopback ports that nobody listens on, else any free one.
func FreePort(preferred ...int) (int, error) {
	for _, port := range preferred {
		if port > 0 && portFree(port) {
			return port, nil
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// The ports lie below those that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): while a
// process is down, nobody must take its port by chance.
const (
	lowestSteady  = 10_000
	highestSteady = 32_000
)

// SteadyPort returns a free loopback port that stays free while nobody listens on it.
func SteadyPort() (int, error) {
	for range 100 {
		wanted := lowestSteady + rand.IntN(highestSteady-lowestSteady)
		if port, err := FreePort(wanted); err != nil || port == wanted {
			return port, err
		}
	}
	return 0, errors.New("no free port found")
}

// portFree asks twice: some systems let one bind beside a listener on all addresses, which would then be shadowed.
func portFree(port int) bool {
	address := Loopback(port)
	if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		conn.Close()
		return false
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// Loopback is the address of a port on this machine.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

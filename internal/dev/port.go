package dev

import (
	"fmt"
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

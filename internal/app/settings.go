package app

import "handover/internal/config"

// The two processes.
const (
	Starter = "starter"
	Worker  = "worker"
)

// adminAddrs are where metrics and health are served when ADMIN_ADDR is not set. Both processes of one machine need one.
var adminAddrs = map[string]string{Starter: "127.0.0.1:9090", Worker: "127.0.0.1:9091"}

// Settings reads the settings of a process. Beside an error it returns what could be read.
func Settings(process string, getenv func(string) (string, bool)) (config.Process, error) {
	return config.LoadProcess(getenv, adminAddrs[process])
}

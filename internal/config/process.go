package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
)

// DefaultTaskQueue is where orders run when nobody has said anything else.
const DefaultTaskQueue = "handover"

// Process are the settings of one process, from the environment.
type Process struct {
	DatabaseURL string // a Postgres connection string; holds a password
	ListenAddr  string // where the starter serves buyers and webhooks
	AdminAddr   string // where metrics and health are served
	TaskQueue   string // Temporal's; empty where nothing is said
	ConfigPath  string
}

// String leaves out the connection string.
func (p Process) String() string {
	return fmt.Sprintf("listen %s, admin %s, task queue %q, configuration %s", p.ListenAddr, p.AdminAddr, p.TaskQueue, p.ConfigPath)
}

// LoadProcess reads the process settings. defaultAdmin is where metrics and health are served when ADMIN_ADDR says
// nothing: the two processes of one machine need different ones.
func LoadProcess(getenv func(string) (string, bool), defaultAdmin string) (Process, error) {
	read := func(name, fallback string) string {
		value, _ := getenv(name)
		return cmp.Or(strings.TrimSpace(value), fallback)
	}
	p := Process{
		DatabaseURL: read("DATABASE_URL", ""),
		ListenAddr:  read("LISTEN_ADDR", "127.0.0.1:8080"),
		AdminAddr:   read("ADMIN_ADDR", defaultAdmin),
		TaskQueue:   read("TASK_QUEUE", ""),
		ConfigPath:  read("HANDOVER_CONFIG", "handover.toml"),
	}
	var list []error
	if p.DatabaseURL == "" {
		list = append(list, errors.New("DATABASE_URL is not set; set it to the Postgres database, like postgres://user:password@host:5432/handover"))
	}
	list = append(list, checkAddr("LISTEN_ADDR", p.ListenAddr), checkAddr("ADMIN_ADDR", p.AdminAddr))
	if err := errors.Join(list...); err != nil {
		return p, err // starter check goes on with what could be read
	}
	return p, nil
}

func checkAddr(name, addr string) error {
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return fmt.Errorf("%s is not an address to listen on; write HOST:PORT or :PORT, like :8080", name)
	}
	return nil
}

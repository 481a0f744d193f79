package cli

import (
	"handover/internal/app"
	"handover/internal/server"
)

// defaultAdmin is where metrics and health are served when ADMIN_ADDR is not set.
const defaultAdmin = "127.0.0.1:9090"

type serveCommand struct{}

func (*serveCommand) Run(c *console) error {
	p, err := app.Open(c.ctx, app.Options{Name: "starter", DefaultAdmin: defaultAdmin, Getenv: c.getenv, Log: c.errs})
	if err != nil {
		return err
	}
	defer p.Close()
	return server.Run(c.ctx, p)
}

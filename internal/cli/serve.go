package cli

import (
	"handover/internal/app"
	"handover/internal/server"
)

type serveCommand struct{}

func (*serveCommand) Run(c *console) error {
	p, err := app.Open(c.ctx, app.Options{Name: app.Starter, Getenv: c.Getenv, Log: c.Err})
	if err != nil {
		return err
	}
	defer p.Close()
	return server.Run(c.ctx, p)
}

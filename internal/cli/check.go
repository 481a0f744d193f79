package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.temporal.io/sdk/client"

	"handover/internal/app"
	"handover/internal/check"
	"handover/internal/config"
	"handover/internal/email"
	emailregistry "handover/internal/email/registry"
	paymentregistry "handover/internal/payment/registry"
	"handover/internal/telemetry"
	"handover/internal/temporalclient"
)

type checkCommand struct {
	JSON bool `help:"Print JSON."`
}

func (k *checkCommand) Run(c *console) error {
	report := check.Look(c.ctx, c.shop())
	if k.JSON {
		if err := printJSON(c.out, report); err != nil {
			return err
		}
	} else {
		check.Print(c.out, report)
	}
	if !report.OK {
		return fmt.Errorf("checks that failed: %d", report.Failures())
	}
	return nil
}

// shop reads what can be read. What is wrong with it becomes part of the answer, and the rest is looked at all the same.
func (c *console) shop() check.Shop {
	read := func(name string) string { value, _ := c.getenv(name); return strings.TrimSpace(value) }
	s := check.Shop{
		DatabaseURL: read("DATABASE_URL"), TaskQueue: cmp.Or(read("TASK_QUEUE"), "handover"),
		OpenPayment: paymentregistry.Open,
		OpenSender: func(e config.Email, step config.Step) (email.Sender, error) {
			return emailregistry.Open(e, step)
		},
		OpenTemporal: func() (client.Client, string, error) {
			opened, options, err := temporalclient.Connect(nil, telemetry.Logger(io.Discard), "starter")
			return opened, options.Namespace, err
		},
	}
	_, s.Problem = config.LoadProcess(c.getenv, "127.0.0.1:9090")
	loaded, err := config.Load(cmp.Or(read("HANDOVER_CONFIG"), "handover.toml"), c.getenv, app.Known())
	if err == nil {
		s.Config = &loaded
	} else {
		s.Problem = errors.Join(s.Problem, err)
	}
	return s
}

package cli

import (
	"errors"
	"fmt"
	"io"

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
	report := check.Run(c.ctx, c.shop())
	if k.JSON {
		if err := c.printJSON(report); err != nil {
			return err
		}
	} else {
		check.Print(c.Out, report)
	}
	if !report.OK {
		return fmt.Errorf("checks that failed: %d", report.Failures())
	}
	return nil
}

// shop reads what can be read. A fault in the settings is part of the report, and everything else is checked all the
// same.
func (c *console) shop() check.Shop {
	settings, fault := app.Settings(app.Starter, c.Getenv)
	s := check.Shop{
		Problem: fault, DatabaseURL: settings.DatabaseURL, TaskQueue: settings.TaskQueue,
		OpenPayment: paymentregistry.Open,
		OpenSender: func(e config.Email, step config.Step) (email.Sender, error) {
			return emailregistry.Open(e, step)
		},
		OpenTemporal: func() (client.Client, string, error) {
			opened, options, err := temporalclient.Connect(nil, telemetry.Logger(io.Discard), "starter")
			return opened, options.Namespace, err
		},
	}
	s.TemporalAddress, s.TemporalTLS = temporalclient.Address()
	loaded, err := config.Load(settings.ConfigPath, c.Getenv, app.Known())
	if err == nil {
		s.Config = &loaded
	}
	s.Problem = errors.Join(s.Problem, err)
	return s
}

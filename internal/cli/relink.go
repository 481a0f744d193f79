package cli

import (
	"fmt"

	"handover/internal/app"
	"handover/internal/config"
	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
	"handover/internal/text"
)

type relinkCommand struct {
	Order    string  `arg:"" optional:"" help:"ENVIRONMENT/SESSION, or the reference."`
	MadeWith string  `help:"All links that were made with this secret; starter check prints the fingerprints." placeholder:"FINGERPRINT"`
	Send     bool    `help:"With --made-with: email the new links, within the sender's rate."`
	NoSend   bool    `help:"Of one order: email no new link."`
	NewKeys  bool    `help:"Of one order: replace its licence keys, too."`
	DryRun   bool    `help:"With --made-with: show which orders, and change nothing."`
	Reason   string  `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	To       *string `help:"Send to this address from now on; - reads it from standard input." placeholder:"ADDRESS"`
	JSON     bool    `help:"Print JSON."`
}

func (r *relinkCommand) Run(c *console) error {
	switch {
	case (r.Order == "") == (r.MadeWith == ""):
		return fmt.Errorf("%w: name one ORDER, or --made-with FINGERPRINT for all links of a secret", errUsage)
	case r.MadeWith != "" && (r.NoSend || r.NewKeys || r.To != nil):
		return fmt.Errorf("%w: --no-send, --new-keys and --to go with one ORDER", errUsage)
	case r.Order != "" && (r.Send || r.DryRun):
		return fmt.Errorf("%w: --send and --dry-run go with --made-with", errUsage)
	case r.NoSend && r.To != nil:
		return fmt.Errorf("%w: --no-send and --to exclude each other", errUsage)
	case r.MadeWith != "":
		return r.all(c)
	}
	one := sendCommand{Order: r.Order, Reason: r.Reason, To: r.To, JSON: r.JSON}
	request, err := one.request(c, flow.KindRelink)
	if err != nil {
		return err
	}
	request.NoSend, request.NewKeys = r.NoSend, r.NewKeys
	return one.carryOut(c, request, false)
}

// all makes the links of a secret dead in one statement, which needs neither Temporal nor a worker. Emails that were under way
// with one go again.
func (r *relinkCommand) all(c *console) error {
	request, err := c.newRequest(flow.KindResend, r.Reason)
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error {
		relinked, err := cn.ledger.RelinkAll(cn.ctx, r.MadeWith, c.who, request.Why, r.DryRun)
		if err != nil {
			return err
		}
		if len(relinked) == 0 {
			return fmt.Errorf("a link that still opens and was made with the secret %s is %w (starter check prints the fingerprints)", r.MadeWith, ledger.ErrNotFound)
		}
		r.warn(cn)
		if !r.JSON {
			verb := "were"
			if r.DryRun {
				verb = "would be"
			}
			fmt.Fprintf(c.Out, "The links of %s %s replaced.\n", text.Count(len(relinked), "order"), verb)
		}
		answers, err := r.each(cn, relinked, request)
		if err != nil {
			return err
		}
		if r.JSON {
			return c.report(true, answers, answers...)
		}
		if r.Send && !r.DryRun {
			return c.report(false, nil, answers...)
		}
		return nil
	})
}

func (r *relinkCommand) each(cn *connection, relinked []ledger.Relinked, request order.Request) ([]answer, error) {
	answers := make([]answer, len(relinked))
	for i, of := range relinked {
		answers[i] = answer{Order: of.Key.String(), Outcome: order.OutcomeRelinked}
		switch {
		case r.DryRun:
			answers[i].Outcome = outcomeDryRun
		case r.Send && !of.Pending:
			a, err := cn.ask(request, of.Key)
			if err != nil {
				return answers[:i], err
			}
			if answers[i] = a; a.Outcome == outcomeWaiting {
				cn.wait = 0
			}
		case of.Pending: // its run has to see that another generation goes
			if runs, err := cn.dispatcher(); err == nil {
				_ = runs.Replay(cn.ctx, of.Key) // else the reconciliation does it
			}
		}
	}
	return answers, nil
}

// warn says so where new links would be made with the same secret again.
func (r *relinkCommand) warn(cn *connection) {
	cfg, err := config.Load(cn.settings.ConfigPath, cn.Getenv, app.Known())
	if err == nil && len(cfg.LinkSecrets) > 0 && link.Fingerprint(cfg.LinkSecrets[0].Reveal()) == r.MadeWith {
		fmt.Fprintln(cn.Err, "starter: this secret is still the first of link_secrets, so new links are made with it: put another one before it and restart the worker")
	}
}

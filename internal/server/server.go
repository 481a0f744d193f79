// Package server wires the web server: webhooks, order pages, downloads, and what runs beside them.
package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	accessregistry "handover/internal/access/registry"
	"handover/internal/app"
	"handover/internal/dispatch"
	"handover/internal/email"
	emailregistry "handover/internal/email/registry"
	"handover/internal/files"
	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/notify"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/recovery/visit"
	"handover/internal/temporalclient"
	"handover/internal/web"
	"handover/internal/web/pages"
	"handover/internal/web/webhook"
)

// Run serves until the context ends. The process is the caller's to close.
func Run(ctx context.Context, p *app.Process) error {
	d := dispatch.New(p.Temporal, p.Ledger, p.Log)
	deps, closeFiles, err := webDeps(ctx, p, d)
	if err != nil {
		return err
	}
	defer closeFiles()
	owner, err := p.OpenOwner()
	if err != nil {
		return err
	}
	alerts := notify.Alerts{Ledger: p.Ledger, Owner: owner, Log: p.Log, Now: time.Now}
	deps.Misled = func(context.Context) { go func() { _, _, _ = alerts.About(ctx, order.ReasonSuccessURL) }() }
	deps.Reached = reached(ctx, p)
	handler, err := web.New(deps, web.Config{
		PublicURL: p.Config.PublicURL, PageDownloadFor: p.Config.Orders.PageDownloadFor, ShopName: p.ShopName(), Contact: p.Config.Email.ReplyTo})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.ServeAdmin(ctx, p.Checks()) })
	group.Go(func() error {
		// Webhooks are answered from the first moment: while the schema is not there they get a 503 and come again.
		return app.Serve(ctx, web.NewServer(handler, p.Settings.ListenAddr), "LISTEN_ADDR", p.Settings.ListenAddr, p.Log)
	})
	group.Go(func() error {
		if err := p.Migrate(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		queue, err := p.KnownTaskQueue(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		d.UseQueue(queue)
		group.Go(func() error { d.Run(ctx); return nil })
		group.Go(func() error {
			notify.NewWatchdog(p.Ledger, owner, slices.Sorted(maps.Keys(p.Config.Environments)), p.Config.Orders.AttentionAfter, p.Log, time.Now).Run(ctx)
			return nil
		})
		temporalclient.KeepAttributes(ctx, p.Temporal, p.Namespace, d.UseAttributes)
		return nil
	})
	return group.Wait()
}

func webDeps(ctx context.Context, p *app.Process, d *dispatch.Dispatcher) (web.Deps, func(), error) {
	opened, err := app.Providers(p.Config)
	if err != nil {
		return web.Deps{}, nil, err
	}
	environments := map[string]webhook.Environment{}
	for name, e := range p.Config.Environments {
		environments[name] = webhook.Environment{Name: name, Mode: e.Mode, Account: e.Account, Provider: opened[name]}
	}
	d.UseFinder(finder(opened))
	catalogue := order.NewCatalogue(p.Config.Products)
	visits := &visit.Visits{Ledger: p.Ledger, Runs: d, Environments: map[string]visit.Environment{}, Catalogue: catalogue, Log: p.Log}
	for name, e := range p.Config.Environments {
		visits.Environments[name] = visit.Environment{Mode: e.Mode, Provider: opened[name]}
	}
	var events email.Webhook
	if len(p.Config.Email.WebhookSecrets) > 0 {
		if events, err = emailregistry.Open(p.Config.Email, p.Config.Steps.Email); err != nil {
			return web.Deps{}, nil, err
		}
	}
	bucket, err := files.Open(ctx, p.Config.FilesBucket)
	if err != nil {
		return web.Deps{}, nil, err
	}
	return web.Deps{
		Environments: environments, Orders: p.Ledger, Events: p.Ledger, Dispatcher: d, EmailWebhook: events, EmailEvents: emailEvents{p.Ledger, d},
		Visits:   visits.Open(ctx),
		Resender: resender{p.Ledger, d}, Files: bucket, Kinds: accessregistry.Kinds(), Catalogue: catalogue, Metrics: p.Counters, Log: p.Log, Now: time.Now,
	}, func() { _ = bucket.Close() }, nil
}

// atOnce bounds how many notes of a buyer's coming are written at once; those beyond are made with the next one.
const atOnce = 8

// reached notes that a buyer has it, beside the answer: a note that is lost is made with the next request.
func reached(ctx context.Context, p *app.Process) func(context.Context, order.Key, order.Reach) {
	slots := make(chan struct{}, atOnce)
	return func(_ context.Context, key order.Key, kind order.Reach) {
		select {
		case slots <- struct{}{}:
		default:
			return
		}
		go func() {
			defer func() { <-slots }()
			writing, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if err := p.Ledger.Reached(writing, key, kind); err != nil {
				p.Log.WarnContext(ctx, "a buyer's coming could not be noted", "order", key.String(), "kind", string(kind), "error", err)
			}
		}()
	}
}

// finder asks the provider of the event's environment. When the session was created is said by the session itself.
func finder(opened map[string]payment.Provider) dispatch.Finder {
	return func(ctx context.Context, environment, named, ref string) (dispatch.Found, error) {
		provider, configured := opened[environment]
		if !configured {
			return dispatch.Found{}, fmt.Errorf("environment %q is not configured", environment)
		}
		session := named
		if session == "" {
			var err error
			if session, err = provider.SessionOf(ctx, ref); err != nil || session == "" {
				return dispatch.Found{}, err
			}
		}
		facts, err := provider.Session(ctx, session)
		return dispatch.Found{Session: session, Created: facts.Created}, err
	}
}

// emailEvents keeps the email provider's events, and tells an order's workflow when one has settled it.
type emailEvents struct {
	ledger     *ledger.Ledger
	dispatcher *dispatch.Dispatcher
}

func (e emailEvents) RecordEmailEvent(ctx context.Context, event order.EmailEvent) (ours bool, err error) {
	evidence, err := e.ledger.RecordEmailEvent(ctx, event)
	if err != nil || !evidence.Settled {
		return evidence.Ours, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_ = e.dispatcher.Replay(ctx, evidence.Key) // what the workflow shows is a copy; the ledger has it
	return evidence.Ours, nil
}

// resender carries out the buyer's "send it again": filed first, so that it is not lost while Temporal is away.
type resender struct {
	ledger     *ledger.Ledger
	dispatcher *dispatch.Dispatcher
}

func (r resender) BuyerResend(ctx context.Context, key order.Key) (pages.BuyerResult, error) {
	request := order.Request{Key: key, ID: "buyer/" + uuid.NewString(), Kind: flow.KindResend, Who: "buyer", Why: "asked for on the order page"}
	filed, wait, err := r.ledger.StoreBuyerRequest(ctx, request)
	if err != nil {
		return pages.BuyerResult{}, err
	}
	if !filed {
		return pages.BuyerResult{TooSoon: true, RetryAfter: wait}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_ = r.dispatcher.Ask(ctx, request) // what does not go now goes with the dispatcher's loop
	return pages.BuyerResult{Sent: true}, nil
}

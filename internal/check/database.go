package check

import (
	"context"
	"errors"
	"strings"
	"time"

	"handover/internal/config"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
	"handover/internal/text"
)

const (
	nameDatabase    = "database"
	nameMigrations  = "migrations"
	nameWebhook     = "last webhook"
	nameEmailEvents = "email events"
	nameReconcile   = "last reconcile"
	nameSales       = "missed sales"
	nameMoney       = "missed refunds"
	nameLastAlert   = "last alert"
	nameLinks       = "link_secrets"
)

const (
	// quiet is how long a live environment can go without an event before it is worth a warning.
	quiet = 30 * 24 * time.Hour
	// overdue is how old the last reconciliation may be: it runs every ten minutes.
	overdue = time.Hour
	// blind is how old the high-water mark of an environment may be: what is missed meanwhile is not found.
	blind = 24 * time.Hour
)

// database checks the database, and what it holds about webhooks, the reconciliation and pending messages.
func (s Shop) database(ctx context.Context) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if s.DatabaseURL == "" {
		return []Check{fail(nameDatabase, "DATABASE_URL is not set", "Set it to the Postgres URL that the starter and the worker run with.")}
	}
	const next = "Without it no webhook is stored: providers get a 503 and try again for a while."
	pool, err := ledger.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return []Check{fail(nameDatabase, err.Error(), next)}
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil {
		return []Check{fail(nameDatabase, ledger.Explain(err).Error(), next)}
	}
	list := []Check{good(nameDatabase, "answers")}
	if err := ledger.Migrated(ctx, pool); err != nil && !errors.Is(err, ledger.ErrNotMigrated) {
		return append(list, fail(nameMigrations, ledger.Explain(err).Error(), next))
	} else if err != nil {
		return append(list, fail(nameMigrations, "the schema is older than this program", "Run starter migrate, or restart starter and worker."))
	}
	list = append(list, good(nameMigrations, "the schema is up to date"))
	l := ledger.New(pool)
	h, err := l.Health(ctx)
	if err != nil {
		return append(list, fail(nameDatabase, "the ledger cannot be read", "May the user of DATABASE_URL read its tables?"))
	}
	if s.Config != nil {
		for _, e := range s.environments() {
			list = append(list, lastWebhook(e, h))
			if known, served := h.SalesKnown[e.Name]; served {
				list = append(list, mark(nameSales, "sale", known, h).of(e.Name), mark(nameMoney, "refund or dispute", h.ReversalsKnown[e.Name], h).of(e.Name))
			}
		}
		list = append(list, s.emailEvents(h), s.links(h))
		if !h.LastAlert.IsZero() {
			list = append(list, lastAlert(h))
		}
	}
	at, err := l.ReconciledAt(ctx)
	if err != nil {
		return append(list, fail(nameDatabase, "the ledger cannot be read", "May the user of DATABASE_URL read its tables?"))
	}
	return append(list, lastReconcile(at, h))
}

// lastWebhook is the only proof that a signing secret is the right one.
func lastWebhook(e config.Environment, h ledger.Health) Check {
	at, some := h.LastWebhooks[e.Name]
	buy := "Buy something there: it shows that the endpoint and its signing secret are right."
	if e.Mode == order.Live {
		buy = "Buy something there, or send a test event from the provider's dashboard: it shows that the endpoint and its signing secret are right."
	}
	switch {
	case !some:
		return warn(nameWebhook, "none has come yet that one of webhook_secrets had signed", buy).of(e.Name)
	case h.Now.Sub(at) > quiet:
		return warn(nameWebhook, "verified "+text.Age(h.Now.Sub(at))+" ago", "Was there no sale since? Otherwise check the endpoint's deliveries in the provider's dashboard.").of(e.Name)
	}
	return good(nameWebhook, "verified "+text.Age(h.Now.Sub(at))+" ago").of(e.Name)
}

func (s Shop) emailEvents(h ledger.Health) Check {
	switch {
	case len(s.Config.Email.WebhookSecrets) == 0:
		return warn(nameEmailEvents, "not taken: bounces are not noticed, and an email whose answer was lost needs a person",
			"Add the webhook "+s.Config.PublicURL+"/webhooks/email at the email provider, and its signing secret to webhook_secrets below [email].")
	case h.LastEmailEvent.IsZero():
		return warn(nameEmailEvents, "none has come yet", "Does the email provider's webhook lead to "+s.Config.PublicURL+"/webhooks/email? The next email shows it.")
	}
	return good(nameEmailEvents, "the last one came "+text.Age(h.Now.Sub(h.LastEmailEvent))+" ago")
}

// links checks that every pending message can still get its link.
func (s Shop) links(h ledger.Health) Check {
	signer, err := link.New(s.Config.PublicURL, config.Reveal(s.Config.LinkSecrets))
	if err != nil {
		return fail(nameLinks, "there is none", "Write one: openssl rand -hex 32 makes it.")
	}
	for _, name := range h.LinkSecrets {
		if _, err := signer.Token(name, order.Key{}, 1); err != nil {
			return fail(nameLinks, "a pending email was rendered with a secret that is no longer in the list",
				"Put the old secret back behind the first, restart the worker, then run: starter retry --misconfigured --reason TEXT")
		}
	}
	names := make([]string, len(s.Config.LinkSecrets))
	for i, secret := range s.Config.LinkSecrets {
		names[i] = link.Fingerprint(secret.Reveal())
	}
	return good(nameLinks, text.Count(len(names), "secret")+", by fingerprint: "+strings.Join(names, ", "))
}

// mark notices a provider's list that cannot be read, while the reconciliation as such goes on.
func mark(name, what string, known time.Time, h ledger.Health) Check {
	const next = "The worker's log says why the provider's list cannot be read. To try it now: starter reconcile"
	age := h.Now.Sub(known)
	searched := "searched for up to " + text.Age(age) + " ago"
	switch {
	case age > blind:
		return fail(name, searched+": a "+what+" whose webhook is lost is not found", next)
	case age > overdue:
		return warn(name, searched+", and should be every ten minutes", next)
	}
	return good(name, searched)
}

// lastAlert notices that the owner cannot be reached: an alert is not repeated.
func lastAlert(h ledger.Health) Check {
	at := text.Age(h.Now.Sub(h.LastAlert)) + " ago"
	if h.AlertFailed {
		return fail(nameLastAlert, "the one of "+at+" did not arrive", "Check [alerts]: the worker's log has the response. What needs you: starter list --attention")
	}
	return good(nameLastAlert, "sent "+at)
}

// lastReconcile notices a stopped schedule, which does not report itself. A fresh shop has not had a run.
func lastReconcile(at time.Time, h ledger.Health) Check {
	const next = "Restart a worker, which creates the schedule again; if it is paused, resume it in the Temporal UI (Schedules)."
	switch {
	case at.IsZero() && !h.FirstOrder.IsZero() && h.Now.Sub(h.FirstOrder) > overdue:
		return fail(nameReconcile, "it has never run: an order whose webhook or workflow is lost is not found", next)
	case at.IsZero():
		return warn(nameReconcile, "the schedule has not run yet", "It comes within ten minutes of a worker's first start.")
	case h.Now.Sub(at) > overdue:
		return fail(nameReconcile, "it ran "+text.Age(h.Now.Sub(at))+" ago, and should every ten minutes: an order whose webhook or workflow is lost is not found", next)
	}
	return good(nameReconcile, "it ran "+text.Age(h.Now.Sub(at))+" ago")
}

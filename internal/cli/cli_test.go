package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"handover/internal/order"
	"handover/internal/payment"
)

const reason = "--reason=asked by telephone"

func TestStatusAndList(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	ready := s.delivered("cs_live_ready").String()
	s.refused("cs_live_refused", order.ClassPermanent, order.ReasonEmailRefused)
	s.granted("cs_live_pending")
	s.paid("cs_live_ignored", ignored)

	s.command("status", ready)
	s.command("status", ready, "--json")
	s.command("status", "live/cs_live_nobody")
	s.command("status", "no key")
	s.golden("command_status")

	for _, filter := range [][]string{
		{}, {"--limit=1"}, {"--attention"}, {"--pending"}, {"--ignored"}, {"--unreached"}, {"--email=ALEX+shop@example.com"}, {"--payment=pi_cs_live_ready"},
	} {
		s.command(append([]string{"list"}, filter...)...)
	}
	s.said = *bytes.NewBuffer(bytes.ReplaceAll(s.said.Bytes(), []byte("ALEX+shop@example.com"), []byte("ADDRESS")))
	s.command("list", "--attention", "--json")
	s.command("list", "--attention", "--pending")
	s.command("list", "--limit=-1")
	s.golden("command_list")
}

// ignored makes an order of somebody else's product.
func ignored(a *order.Assessment) {
	a.State, a.Entitlements, a.Email, a.Items[0].Product = order.PaymentIgnored, nil, "", ""
}

func TestResendAndRelink(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	key := s.delivered("cs_live_ready").String()
	s.command("resend", key, reason)
	s.command("resend", "--to=alex@example.com", key, reason, "--json")
	s.command("relink", key, reason)
	s.command("relink", key, reason, "--json")

	unpaid := s.paid("cs_live_unpaid", func(a *order.Assessment) { a.State, a.Entitlements = order.PaymentPending, nil }).String()
	s.command("resend", unpaid, reason)
	s.command("resend", unpaid, reason, "--json")

	s.command("resend", key)
	s.command("resend", key, "--reason=write to alex@example.com")
	s.command("resend", key, reason, "--to=nobody")
	s.runs.silent = true
	s.command("resend", key, reason)
	s.runs.away = true
	s.command("resend", key, reason, "--json")
	s.command("status", key)
	s.said = *bytes.NewBuffer(bytes.ReplaceAll(s.said.Bytes(), []byte("alex@example.com"), []byte("ADDRESS")))
	s.golden("command_resend")
}

func TestRetry(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	ready := s.delivered("cs_live_ready").String()
	exhausted := s.refused("cs_live_exhausted", order.ClassExhausted, order.ReasonEmailExhausted).String()
	s.refused("cs_live_key_1", order.ClassMisconfigured, order.ReasonEmailConfig)
	s.refused("cs_live_key_2", order.ClassMisconfigured, order.ReasonEmailConfig)
	s.command("retry", exhausted, reason)
	s.command("retry", ready, reason)
	s.command("retry", ready, reason, "--json")
	s.command("retry", "--misconfigured", reason, "--json")
	s.command("retry", "--misconfigured", reason)
	s.command("retry", reason)
	s.command("retry", "live/cs_live_nobody", reason)
	s.golden("command_retry")
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	s.delivered("cs_live_ready")
	s.refused("cs_live_spent_1", order.ClassExhausted, order.ReasonEmailExhausted)
	s.refused("cs_live_spent_2", order.ClassExhausted, order.ReasonEmailExhausted)
	s.refused("cs_live_uncertain", order.ClassUncertain, order.ReasonEmailUncertain)
	s.command("retry", "--reason-is", "email_attempts_spent", "--dry-run")
	s.command("resend", "--unreached", "--dry-run", "--json")
	s.command("retry", "--reason-is", "email_attempts_spent", "--since", "3d")
	s.command("retry", "--reason-is", "email_attempts_spent", "--json")
	s.command("resend", "--unreached", "--since", "2h", reason)
	s.command("retry", "--reason-is", "tired")
	s.command("retry", "--reason-is", "orders_still_waiting")
	s.command("retry", "live/cs_live_ready", "--since", "2h", reason)
	s.command("retry", "live/cs_live_ready", "--misconfigured", reason)
	s.command("resend", "--unreached", "--to", "-")
	s.command("resend", reason)
	s.runs.silent = true
	s.refused("cs_live_later_1", order.ClassExhausted, order.ReasonEmailExhausted)
	s.refused("cs_live_later_2", order.ClassExhausted, order.ReasonEmailExhausted)
	s.command("retry", "--reason-is", "email_attempts_spent")
	s.golden("command_many")
}

func TestRevokeAndRestore(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	key := s.delivered("cs_live_ready").String()
	s.command("revoke", key, reason)
	s.command("revoke", key, reason)
	s.command("restore", key, reason, "--json")
	s.command("restore", key, reason, "--json")
	s.runs.away = true
	s.command("revoke", key, reason)
	s.golden("command_access")
}

func TestReplay(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	key := s.paid("cs_live_ignored", ignored)
	s.command("replay", key.String())
	corrected := s.runs.assessed[key]
	corrected.State, corrected.Email, corrected.Items[0].Product = order.PaymentConfirmed, alex, product
	corrected.Entitlements = []order.Entitlement{{Product: product, Kind: "download", File: "field-guide.pdf", Units: 1}}
	s.runs.assessed[key] = corrected
	s.command("replay", "--ignored", "--json")
	s.command("replay", "--ignored")
	s.command("replay", key.String())
	s.command("replay")

	later := s.paid("cs_live_later", ignored).String()
	s.runs.silent = true
	s.command("replay", later)
	s.runs.away = true
	s.command("replay", later)
	s.golden("command_replay")
}

// sales is a provider's list of sales.
type sales struct {
	payment.Provider
	listed   []order.Sale
	reversed []order.Reversed
	failed   error
}

func (p *sales) ValidSession(id string) bool { return strings.HasPrefix(id, "cs_live_") }

func (p *sales) PaidSessions(context.Context, time.Time, string) ([]order.Sale, string, error) {
	return p.listed, "", p.failed
}

func (p *sales) ReversalsSince(context.Context, time.Time, string) ([]order.Reversed, string, error) {
	return p.reversed, "", p.failed
}

func (p *sales) Session(_ context.Context, id string) (payment.Facts, error) {
	return payment.Facts{
		Session: id, Mode: order.Live, Kind: order.SessionPayment, Status: payment.StatusPaid, Email: alex, Created: time.Now(),
		Total: order.Money{Minor: 2900, Currency: "eur"}, Items: []order.Item{{Line: 1, Refs: []string{"price_1Abc"}, Quantity: 1}},
	}, nil
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	s.command("reconcile")
	s.writeConfig()
	books := &sales{listed: []order.Sale{{Session: "cs_live_missed", At: time.Now()}, {Ref: "pi_nameless", At: time.Now()}}}
	s.books = books
	s.command("reconcile", "--since=3d", "--dry-run")
	if len(s.runs.started) > 0 {
		t.Error("a dry run started a workflow")
	}
	s.command("reconcile", "--since=72h", "--json")
	if len(s.runs.started) != 1 {
		t.Errorf("%d workflows were started, want one", len(s.runs.started))
	}
	s.command("reconcile", "--since=soon")
	s.books = &sales{failed: &payment.APIError{Status: 401}}
	s.command("reconcile")
	s.golden("command_reconcile")
}

func TestErase(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	key := s.delivered("cs_live_ready").String()
	pending := s.granted("cs_live_pending").String()
	s.command("erase", key, reason)
	s.command("erase", key, reason, "--json")
	s.command("erase", pending, reason)
	s.command("erase", "live/cs_live_nobody", reason)
	first, second := s.delivered("cs_live_first"), s.delivered("cs_live_second")
	s.in = strings.ToUpper(alex)
	s.command("erase", "--email", "-", reason)
	for _, key := range []order.Key{first, second} {
		if v, err := s.ledger.Order(t.Context(), key); err != nil || v.Address != "" {
			t.Errorf("%s: address %q, %v", key, v.Address, err)
		}
	}
	s.in = alex + "\n"
	s.command("erase", "--email", "-", reason, "--json")
	s.in = "nobody@example.com"
	s.command("erase", "--email", "-", reason)
	s.command("erase", reason)
	s.command("erase", key, "--email", "-", reason)
	s.golden("command_erase")
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.command("list")
	_, code := s.command("migrate", "--json")
	s.said.Reset() // the number of migrations grows
	if code != exitDone {
		t.Fatalf("migrate ended %d", code)
	}
	s.command("migrate")
	s.command("migrate", "--json")
	delete(s.env, "DATABASE_URL")
	s.command("migrate")
	s.env["DATABASE_URL"] = "postgres://127.0.0.1:1/handover"
	s.command("migrate")
	s.golden("command_migrate")
}

func TestCheckReportsEverythingAndFails(t *testing.T) {
	t.Parallel()
	s := migratedShop(t)
	s.env["TASK_QUEUE"] = ""
	s.env["HANDOVER_CONFIG"] = "missing.toml"
	out, code := s.command("check", "--json")
	var report struct {
		OK     bool
		Checks []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitFailed || report.OK {
		t.Fatalf("check ended %d, %v:\n%s", code, err, out)
	}
	states := map[string]string{}
	for _, c := range report.Checks {
		states[c.Name] = c.State
	}
	if states["configuration"] != "failure" || states["database"] != "ok" || states["migrations"] != "ok" {
		t.Errorf("states %v", states)
	}
	if out, code := s.command("check"); code != exitFailed || !strings.Contains(out, "FAILURE configuration") {
		t.Errorf("check ended %d:\n%s", code, out)
	}
}

func TestHelpOfEveryCommandFitsATerminalAndBeginsWithExamples(t *testing.T) {
	t.Parallel()
	s := &shop{t: t, runs: &fakeRuns{}}
	parser, err := kong.New(&commands{})
	s.must(err)
	pages := []string{""}
	for _, node := range parser.Model.Leaves(true) {
		pages = append(pages, node.Name)
	}
	if len(pages) != len(manuals) {
		t.Errorf("%d pages, %d manuals", len(pages), len(manuals))
	}
	for _, name := range pages {
		out, code := s.command(append(strings.Fields(name), "--help")...)
		if code != exitDone {
			t.Errorf("%s --help ended %d", name, code)
		}
		for line := range strings.Lines(out) {
			if len([]rune(strings.TrimRight(line, "\n"))) > helpWidth {
				t.Errorf("%s --help has a line of more than %d columns: %s", name, helpWidth, line)
			}
		}
		if examples, usage := strings.Index(out, "\nExamples:\n  starter "), strings.Index(out, "\nUsage: "); examples < 0 || usage < examples {
			t.Errorf("%s --help does not begin with examples:\n%s", name, out)
		}
	}
	s.command("resnd")
	s.command("status")
	s.golden("command_help")
}

package check_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/client"

	"handover/internal/check"
	"handover/internal/config"
	"handover/internal/email"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/payment"
)

const (
	linkSecret = "a link secret of the tests, 32 bytes"
	oldSecret  = "another link secret, now off the list"
)

// kept is a shop with a database that the test fills.
func kept(t *testing.T) (check.Shop, func(sql string, args ...any)) {
	t.Helper()
	s := shop(t, map[string]payment.Provider{"test": account{}, "live": account{}}, func(c *config.Config) {
		c.LinkSecrets, c.Email.WebhookSecrets = []config.Secret{linkSecret}, []config.Secret{"whsec_0"}
	})
	s.DatabaseURL = testenv.Database(t)
	s.OpenTemporal = func() (client.Client, string, error) { return nil, "", errors.New("none in this test") }
	pool, err := ledger.Connect(t.Context(), s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := ledger.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return s, func(sql string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	newEvent = `INSERT INTO webhook_events (environment, event_id, type, kind, received_at) VALUES ($1, $2, 't', 'other', now() - $3::interval)`
	newPass  = `INSERT INTO reconciliations (finished_at, checked, repaired, remaining) VALUES (now() - $1::interval, 0, 0, 0)`
	newOrder = `INSERT INTO orders (environment, session, created_at) VALUES ('test', 'cs_test_1', now() - $1::interval)`
	newEmail = `INSERT INTO obligations (environment, session, kind, subject, link_secret) VALUES ('test', 'cs_test_1', 'email', '1', $1)`
)

func TestTheLastWebhookIsToldByEnvironment(t *testing.T) {
	t.Parallel()
	s, exec := kept(t)
	if got, want := named(t, s, "last webhook"), []string{"live warning: none has come", "test warning: none has come"}; !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	day := 24 * time.Hour
	exec(newEvent, "live", "evt_1", 31*day)
	exec(newEvent, "test", "evt_1", 40*day)
	exec(newEvent, "test", "evt_2", 5*day)
	if got, want := named(t, s, "last webhook"), []string{"live warning: verified 31 days ago", "test ok: verified 5 days ago"}; !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnOldReconcileIsAFailureAndAFreshShopHasNone(t *testing.T) {
	t.Parallel()
	s, exec := kept(t)
	expect := func(want string) {
		t.Helper()
		if got := named(t, s, "last reconcile"); !agree(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect("warning: not run yet")
	exec(newOrder, 30*time.Minute)
	expect("warning: not run yet")
	exec(`UPDATE orders SET created_at = now() - interval '2 hours'`)
	expect("failure: never run")
	exec(newPass, 10*time.Minute)
	expect("ok: ran 10 min ago")
	exec(`UPDATE reconciliations SET finished_at = now() - interval '61 minutes'`)
	expect("failure: ran 1 h ago")
}

func TestASecretThatAWaitingEmailNeedsMayNotLeaveTheList(t *testing.T) {
	t.Parallel()
	s, exec := kept(t)
	name := func(secret string) string {
		signer, err := link.New("https://shop.example", []string{secret})
		if err != nil {
			t.Fatal(err)
		}
		return signer.Newest()
	}
	expect := func(want string) {
		t.Helper()
		if got := named(t, s, "link_secrets"); !agree(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	exec(newOrder, time.Minute)
	exec(newEmail, name(linkSecret))
	expect("ok: 1 secret")
	exec(`UPDATE obligations SET link_secret = $1`, name(oldSecret))
	expect("failure: no longer in the list")
	s.Config.LinkSecrets = append(s.Config.LinkSecrets, oldSecret)
	expect("ok: 2 secrets")
	s.Config.LinkSecrets = s.Config.LinkSecrets[:1]
	exec(`UPDATE obligations SET finished_at = now()`)
	expect("ok: 1 secret")
}

func TestEmailEventsAreLookedFor(t *testing.T) {
	t.Parallel()
	s, exec := kept(t)
	if got := named(t, s, "email events"); !agree(got, []string{"warning: none has come yet"}) {
		t.Errorf("%q", got)
	}
	exec(`INSERT INTO email_evidence (event_id, type, message_id, delivery, detail) VALUES ('m', 'email.sent', 'x', 'sent', '')`)
	if got := named(t, s, "email events"); !agree(got, []string{"ok: s ago"}) {
		t.Errorf("%q", got)
	}
	s.Config.Email.WebhookSecrets = nil
	if got := named(t, s, "email events"); !agree(got, []string{"warning: not taken"}) {
		t.Errorf("%q", got)
	}
	if got := named(t, s, email.FindingKey); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestADatabaseThatIsNotReadyIsToldApart(t *testing.T) {
	t.Parallel()
	s := shop(t, map[string]payment.Provider{"test": account{}}, nil)
	unmigrated := testenv.Database(t)
	other, err := pgx.ParseConfig(unmigrated)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ url, check, want string }{
		"not set":       {"", "database", "failure: not set"},
		"no URL":        {"postgres://user:private_password@[", "database", "failure: not a Postgres URL"},
		"nobody there":  {"postgres://user:private_password@127.0.0.1:1/db", "database", "failure: does not answer"},
		"no such one":   {"postgres://" + other.User + ":" + other.Password + "@" + other.Host + ":" + strconv.Itoa(int(other.Port)) + "/not_there?sslmode=disable", "database", "failure: no such database"},
		"not migrated":  {unmigrated, "migrations", "failure: older than this program"},
		"it is reached": {unmigrated, "database", "ok: answers"},
	} {
		s.DatabaseURL = c.url
		if got := named(t, s, c.check); !agree(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnAlertThatDidNotArriveIsAFailure(t *testing.T) {
	t.Parallel()
	s, exec := kept(t)
	const add = `INSERT INTO alert_messages (reason, claimed_at, outcome) VALUES ($1, now() - $2::interval, $3)`
	if got := named(t, s, "last alert"); len(got) != 0 {
		t.Errorf("before any: %q", got)
	}
	exec(add, "email_refused", 3*time.Hour, "told")
	if got, want := named(t, s, "last alert"), []string{"ok: sent 3 h ago"}; !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	exec(add, "email_misconfigured", 2*time.Hour, "failed")
	if got, want := named(t, s, "last alert"), []string{"failure: the one of 2 h ago did not arrive"}; !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestASearchForMissedSalesThatStandsStillIsNoticed(t *testing.T) {
	t.Parallel()
	s, exec := kept(t)
	const add = `INSERT INTO sales_lists (environment, complete_until) VALUES ($1, now() - $2::interval)`
	exec(add, "live", 25*time.Hour)
	exec(add, "test", 2*time.Hour)
	want := []string{"live failure: searched for up to 25 h ago", "test warning: searched for up to 2 h ago"}
	if got := named(t, s, "missed sales"); !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	exec(`UPDATE sales_lists SET complete_until = now() - interval '5 minutes'`)
	if got, want := named(t, s, "missed sales"), []string{"live ok: searched for", "test ok: searched for"}; !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

package activities_test

import (
	"fmt"
	"strings"
	"testing"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func TestTokenIsNotStored(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	if _, err := b.send(1); err != nil {
		t.Fatal(err)
	}
	made, err := b.links().Token(b.links().Newest(), b.key, 1)
	b.must(err)
	var stored string
	b.must(b.pool.QueryRow(t.Context(), `SELECT convert_from(payload, 'UTF8') FROM obligations WHERE session = $1 AND kind = 'email'`, b.key.Session).Scan(&stored))
	if strings.Contains(stored, made) || !strings.Contains(stored, order.LinkPlaceholder) {
		t.Error("the stored message holds the token, or no placeholder")
	}
	tables, err := b.pool.Query(t.Context(), `SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'`)
	b.must(err)
	var names []string
	for tables.Next() {
		var name string
		b.must(tables.Scan(&name))
		names = append(names, name)
	}
	if len(names) < 5 {
		t.Fatalf("only %v found", names)
	}
	for _, name := range names {
		var rows int
		// Bytes are shown as hexadecimal.
		b.must(b.pool.QueryRow(t.Context(), `SELECT count(*) FROM `+name+` t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0`,
			made, fmt.Sprintf("%x", made)).Scan(&rows))
		if rows > 0 {
			t.Errorf("the token is in %d rows of %s", rows, name)
		}
	}
}

func TestChangedSettingsDoNotChangeAMessageUnderWay(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	b.fault(sandbox.Fault{Target: "resend.send", Mode: "drop", Times: 1})
	_, err := b.send(1)
	b.wants(err, order.ClassUnknown)
	b.cfg.From, b.cfg.ReplyTo, b.cfg.ShopName = "Another <new@other.example>", "reply@other.example", "Another"
	b.products[0].Name = "The Guide, second edition"
	b.secrets = []string{newSecret, oldSecret}
	if sent, err := b.send(1); err != nil || sent.Email != order.EmailAccepted {
		t.Fatalf("the next attempt: %+v, %v", sent, err)
	}
	if got := b.calls(1); got.Calls != 2 || got.Accepted != 1 || got.Bodies != 1 {
		t.Errorf("%d calls, %d messages, %d different bodies; want 2, 1, 1", got.Calls, got.Accepted, got.Bodies)
	}
	decided, err := b.resend("req_1")
	if err != nil || decided.Outcome != order.OutcomeSending || decided.Generation != 2 {
		t.Fatalf("resend: %+v, %v", decided, err)
	}
	if _, err := b.send(2); err != nil {
		t.Fatal(err)
	}
	message := b.messages()[1]
	made, err := b.links().Token(b.links().Newest(), b.key, 1)
	b.must(err)
	if message.From != "Another <new@other.example>" || !strings.Contains(message.Text, "second edition") || !strings.Contains(message.Text, made) {
		t.Errorf("the new generation does not follow the new settings: from %s", message.From)
	}
}

func TestMessageUnderWayKeepsItsLinkWhenSecretsRotate(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	old, err := b.links().Token(b.links().Newest(), b.key, 1)
	b.must(err)
	b.fault(quoting(500, "application_error"))
	_, err = b.send(1)
	b.wants(err, order.ClassUnknown)
	b.secrets = []string{newSecret, oldSecret}
	if _, err := b.send(1); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.messages()[0].Text, old) {
		t.Error("the message does not hold the link that it was frozen with")
	}
}

func TestMessageWhoseSecretHasLeftTheListIsTheShopsToMend(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	b.fault(quoting(500, "application_error"))
	_, err := b.send(1)
	b.wants(err, order.ClassUnknown)
	b.secrets = []string{newSecret}
	_, err = b.send(1)
	b.wants(err, order.ClassMisconfigured)
	if got := b.calls(1).Calls; got != 1 {
		t.Errorf("%d calls, want one", got)
	}
	if v := b.view(); v.Reason != order.ReasonLinkSecret || v.Facts.Email != order.EmailAttention {
		t.Errorf("reason %s, email %s", v.Reason, v.Facts.Email)
	}
	if !strings.Contains(b.logs.String(), "put it back behind the first") {
		t.Error("the log does not say what to do")
	}
}

package order_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handover/internal/order"
)

func TestWrittenKeyIsParsed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("e", 32) + "/" + strings.Repeat("S", 200)
	for _, s := range []string{"live/cs_live_a1b2", "test-2/cs_test_A-B", "0/_", "-/-", long} {
		k, err := order.ParseKey(s)
		if err != nil || k.String() != s {
			t.Errorf("ParseKey(%q) = %q, %v", s, k, err)
		}
	}
	if k, err := order.ParseKey("  live/cs_1\n"); err != nil || k != (order.Key{Environment: "live", Session: "cs_1"}) {
		t.Errorf("a key with spaces around it, as it is pasted: got %+v, %v", k, err)
	}
}

func TestAnythingElseIsNoKey(t *testing.T) {
	t.Parallel()
	bad := []string{
		"", "/", "live", "live/", "/cs_1", "cs_live_a1b2", "Live/cs_1", "li_ve/cs_1", "live/cs.1", "live/cs 1", "live /cs_1", "live/ cs_1",
		"live/cs_1/x", "live//cs_1", "live/cs_1\x00", "live\n/cs_1", "live/cs_1\n2", "live/é", "líve/cs_1", "live/%2e%2e", "../cs_1", "order:live:cs_1",
		strings.Repeat("e", 33) + "/cs_1", "live/" + strings.Repeat("s", 201),
	}
	for _, s := range bad {
		if k, err := order.ParseKey(s); !errors.Is(err, order.ErrBadKey) || k != (order.Key{}) {
			t.Errorf("ParseKey(%q) = %q, %v, want ErrBadKey", s, k, err)
		}
	}
}

func TestLongestEmailKeyFitsTheProvider(t *testing.T) {
	t.Parallel()
	k := order.Key{Environment: strings.Repeat("e", 32), Session: strings.Repeat("s", 200)}
	if n := len(k.EmailKey(order.MostGenerations)); n > 256 {
		t.Errorf("the idempotency key has %d characters; Resend takes 256", n)
	}
	short := order.Key{Environment: "live", Session: "cs_1"}
	if got, want := short.EmailKey(2), "handover/live/cs_1/email/2"; got != want {
		t.Errorf("EmailKey = %q, want %q: it must never change, open orders send under it", got, want)
	}
}

func keys() *rapid.Generator[order.Key] {
	return rapid.Custom(func(t *rapid.T) order.Key {
		return order.Key{
			Environment: rapid.StringMatching(`[a-z0-9-]{1,32}`).Draw(t, "environment"),
			Session:     rapid.StringMatching(`[A-Za-z0-9_-]{1,200}`).Draw(t, "session"),
		}
	})
}

func TestKeySurvivesItsWrittenForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := keys().Draw(t, "key")
		if !k.Valid() {
			t.Fatalf("%q is not valid", k)
		}
		if back, err := order.ParseKey(k.String()); err != nil || back != k {
			t.Fatalf("ParseKey(%q) = %q, %v", k, back, err)
		}
		if got, want := k.WorkflowID(), "order:"+k.Environment+":"+k.Session; got != want {
			t.Fatalf("WorkflowID = %q, want %q", got, want)
		}
	})
}

func TestDifferentOrdersShareNoName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := keys().Draw(t, "a"), keys().Draw(t, "b")
		g, h := rapid.IntRange(1, 20).Draw(t, "g"), rapid.IntRange(1, 20).Draw(t, "h")
		if a != b && (a.String() == b.String() || a.WorkflowID() == b.WorkflowID()) {
			t.Fatalf("%q and %q have a name in common", a, b)
		}
		if (a != b || g != h) && a.EmailKey(g) == b.EmailKey(h) {
			t.Fatalf("two emails have the idempotency key %q", a.EmailKey(g))
		}
	})
}

func TestParsedKeyIsAlwaysValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z/_. -]{0,12}/[a-z_/. -]{0,12}`)).Draw(t, "s")
		if k, err := order.ParseKey(s); err == nil && (!k.Valid() || k.String() != strings.TrimSpace(s)) {
			t.Fatalf("ParseKey(%q) = %q", s, k)
		}
	})
}

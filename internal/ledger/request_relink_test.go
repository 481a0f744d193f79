package ledger_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"testing"

	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
)

// newKeys issues a key for each unit.
func newKeys(e order.Entitlement) (grants []order.Grant, err error) {
	for unit := range e.Units {
		grants = append(grants, order.Grant{Unit: unit + 1, Secret: "NEW-" + rand.Text()})
	}
	return grants, nil
}

// links are the hashes of an order's link in its versions, as the message of a generation stores them.
func (b *env) linked(generation int, secret string, version int) [32]byte {
	b.t.Helper()
	hash := link.Hash(b.key.Session + strconv.Itoa(version) + secret)
	claim, err := b.ClaimEmail(b.t.Context(), b.work(generation), terms, func(d ledger.EmailData) (ledger.Rendered, error) {
		return ledger.Rendered{Message: order.Message{To: d.Address}, LinkSecret: secret, LinkBase: "https://shop.example", LinkHash: hash[:]}, nil
	})
	b.must(err)
	if claim.LinkVersion != version || claim.LinkBase != "https://shop.example" {
		b.t.Fatalf("claimed %+v", claim)
	}
	b.must(b.Release(b.t.Context(), b.work(generation), claim.Token, order.ClassRetry, true, 0))
	return hash
}

func (b *env) opens(hash [32]byte) bool {
	b.t.Helper()
	_, err := b.OrderByLink(b.t.Context(), hash)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		b.t.Fatal(err)
	}
	return err == nil
}

func (b *env) relink(id string, change func(*order.Request)) order.Decision {
	b.t.Helper()
	r := order.Request{Key: b.key, ID: id, Kind: "relink", Who: "alice", Why: "it went astray"}
	change(&r)
	b.must(b.StoreRequest(b.t.Context(), r))
	r.NoSend, r.NewKeys = false, false // no signal carries them
	d, err := b.Relink(b.t.Context(), r, newKeys)
	b.must(err)
	return d
}

func TestRelinkWithoutAnEmail(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.pay().give()
	hash := b.linked(1, "one", 1)
	b.accept(1)
	if d := b.relink("r", func(r *order.Request) { r.NoSend = true }); d.Outcome != order.OutcomeRelinked || d.Generation != 1 {
		t.Errorf("%+v", d)
	}
	if v := b.view(); b.opens(hash) || !v.Relinked() || len(v.Emails) != 1 {
		t.Errorf("the old link opens: %v; %+v", b.opens(hash), v)
	}
}

// An email that is under way carries the old link: it goes again, whatever was asked for.
func TestRelinkWithoutAnEmailReplacesTheOneThatIsUnderWay(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.pay().give()
	b.linked(1, "one", 1)
	if d := b.relink("r", func(r *order.Request) { r.NoSend = true }); d.Outcome != order.OutcomeSending || d.Generation != 2 {
		t.Errorf("%+v", d)
	}
	if hash := b.linked(2, "one", 2); !b.opens(hash) {
		t.Error("the new link opens nothing")
	}
}

func TestRelinkReplacesTheLicenceKeysWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for asked, differ := range map[bool]bool{true: true, false: false} {
		t.Run(strconv.FormatBool(asked), func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.pay().give().accept(1)
			before := b.secrets(order.AccessGranted)
			b.relink("r", func(r *order.Request) { r.NewKeys = asked })
			b.relink("r", func(r *order.Request) { r.NewKeys = asked }) // repeated: decided once
			after := b.secrets(order.AccessGranted)
			same := slices.ContainsFunc(after, func(s string) bool { return slices.Contains(before, s) })
			if len(before) == 0 || len(after) != len(before) || same == differ {
				t.Errorf("keys %v, then %v", before, after)
			}
		})
	}
}

// The links of a leaked secret die in one statement; those of another stay, and what was under way goes again.
func TestLinksOfASecretAreReplacedAtOnce(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	other, waiting := b.another(), b.another()
	for _, o := range []*env{b, other, waiting} {
		o.pay().give()
	}
	leaked, kept, open := b.linked(1, "leaked", 1), other.linked(1, "kept", 1), waiting.linked(1, "leaked", 1)
	b.accept(1)
	other.accept(1)
	for _, dry := range []bool{true, false} {
		relinked, err := b.RelinkAll(t.Context(), "leaked", "alice", "it leaked", dry)
		b.must(err)
		pending := map[order.Key]bool{}
		for _, r := range relinked {
			pending[r.Key] = r.Pending
		}
		if len(pending) != 2 || pending[b.key] || !pending[waiting.key] {
			t.Errorf("dry %v: %+v", dry, relinked)
		}
		if b.opens(leaked) != dry || b.opens(open) != dry || !b.opens(kept) {
			t.Errorf("dry %v: opens %v, %v, %v", dry, b.opens(leaked), b.opens(open), b.opens(kept))
		}
	}
	if hash := waiting.linked(2, "new", 2); !b.opens(hash) {
		t.Error("the email that was under way does not go again")
	}
	if relinked, err := b.RelinkAll(t.Context(), "leaked", "alice", "again", false); err != nil || len(relinked) != 0 {
		t.Errorf("a second time: %v, %v", relinked, err)
	}
}

// An email that had stopped when its link was replaced cannot go again as it is: its link opens nothing. A retry sends another.
func TestRetryAfterALinkWasReplacedSendsOneThatOpens(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(b *env){
		"of the order": func(b *env) { b.relink("r", func(r *order.Request) { r.NoSend = true }) },
		"of all of a secret": func(b *env) {
			_, err := b.RelinkAll(b.t.Context(), "one", "alice", "it leaked", false)
			b.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ownEnv(t)
			b.pay().give()
			b.linked(1, "one", 1)
			b.must(b.Stop(t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
			replace(b)
			if d := b.retry("again"); d.Outcome != order.OutcomeRetrying || d.Generation != 2 {
				t.Fatalf("%+v", d)
			}
			if hash := b.linked(2, "one", 2); !b.opens(hash) {
				t.Error("the link of the email that goes opens nothing")
			}
		})
	}
}

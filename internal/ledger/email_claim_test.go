package ledger_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestMessageIsFrozenWithTheFirstClaim(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	first := b.claim(1)
	if first.Message.To != alex || first.LinkSecret != "secret-1" || first.LinkVersion != 1 {
		t.Fatalf("the first claim has %+v", first)
	}
	b.must(b.Release(t.Context(), b.work(1), first.Token, order.ClassUnknown, true, 0))
	b.exec(`UPDATE orders SET address = $2, buyer_name = 'Somebody Else' WHERE session = $1`, b.key.Session, kim)
	b.exec(`UPDATE grants SET secret = 'another key' WHERE session = $1 AND access_kind = 'license'`, b.key.Session)
	second, err := b.ClaimEmail(t.Context(), b.work(1), terms, func(ledger.EmailData) (ledger.Rendered, error) {
		t.Error("a frozen message was rendered again")
		return ledger.Rendered{}, nil
	})
	b.must(err)
	if diff := cmp.Diff(first.Message, second.Message); diff != "" || second.LinkSecret != first.LinkSecret {
		t.Errorf("the second attempt sends other bytes (-first +second):\n%s", diff)
	}
}

func TestMessageIsRenderedFromWhatTheOrderHas(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.exec(`UPDATE orders SET address = $2 WHERE session = $1`, b.key.Session, kim)
	var data ledger.EmailData
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, func(d ledger.EmailData) (ledger.Rendered, error) {
		data = d
		return render(d)
	})
	b.must(err)
	want := ledger.EmailData{Key: b.key, Reference: b.view().Reference, Address: kim, Name: name, LinkVersion: 1, Grants: b.view().Grants}
	if diff := cmp.Diff(want, data); diff != "" || len(data.Grants) != 3 {
		t.Errorf("rendered from (-want +got):\n%s", diff)
	}
}

func TestLinkOpensTheOrderFromTheFirstClaimOn(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	var hash [32]byte
	copy(hash[:], b.key.Session[len(b.key.Session)-26:])
	if _, err := b.OrderByLink(t.Context(), hash); !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("before there is a link: %v", err)
	}
	withHash := func(d ledger.EmailData) (ledger.Rendered, error) {
		frozen, err := render(d)
		frozen.LinkHash = hash[:]
		return frozen, err
	}
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, withHash)
	b.must(err)
	v, err := b.OrderByLink(t.Context(), hash)
	b.must(err)
	if diff := cmp.Diff(b.view(), v); diff != "" {
		t.Errorf("the link opens (-want +got):\n%s", diff)
	}
	b.exec(`UPDATE orders SET link_version = 2 WHERE session = $1`, b.key.Session)
	if _, err := b.OrderByLink(t.Context(), hash); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a link that was replaced: %v", err)
	}
}

func TestNoAddressLeavesNoClaim(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.exec(`UPDATE orders SET buyer_email = NULL WHERE session = $1`, b.key.Session)
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, func(ledger.EmailData) (ledger.Rendered, error) {
		t.Error("a message to nobody was rendered")
		return ledger.Rendered{}, nil
	})
	if !errors.Is(err, ledger.ErrNoAddress) {
		t.Errorf("got %v, want ErrNoAddress", err)
	}
	if e := b.view().Emails[0]; e.Attempts != 0 || e.FirstAttemptAt != nil {
		t.Errorf("%d attempts are counted, the first at %v", e.Attempts, e.FirstAttemptAt)
	}
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonNoAddress))
}

func TestFailingRenderLeavesNoClaim(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	cause := errors.New("no such template")
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, func(ledger.EmailData) (ledger.Rendered, error) { return ledger.Rendered{}, cause })
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if claim := b.claim(1); claim.Attempts != 1 {
		t.Errorf("the next claim is attempt %d", claim.Attempts)
	}
}

// TestResendWhileTheMessageFreezesIsNotLost: a new address that comes at the moment of the first claim is in the message
// that it joins, or makes another message.
func TestResendWhileTheMessageFreezesIsNotLost(t *testing.T) {
	t.Parallel()
	base := newEnv(t)
	for range 40 {
		b := base.another().pay().give()
		var claim ledger.EmailClaim
		var decision order.Decision
		var errs [2]error
		atOnce(2, func(i int) {
			if i == 0 {
				claim, errs[i] = b.ClaimEmail(t.Context(), b.work(1), terms, render)
				return
			}
			request := b.request("to kim")
			request.Address = kim
			decision, errs[i] = b.Resend(t.Context(), request)
		})
		b.must(errors.Join(errs[0], errs[1]))
		switch {
		case decision.Outcome == order.OutcomeJoined && claim.Message.To == kim:
		case decision.Outcome == order.OutcomeSending && claim.Message.To == alex && b.claim(2).Message.To == kim:
		default:
			t.Fatalf("the resend is %s, generation %d, and the first message goes to the new address: %v",
				decision.Outcome, decision.Generation, claim.Message.To == kim)
		}
	}
}

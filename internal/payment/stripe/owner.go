package stripe

import (
	"context"
	"errors"
	"sync"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// refusedFor is how long a key that may not read its own account is not asked for it again.
const refusedFor = 10 * time.Minute

// owner is the account that the key belongs to, once it is known.
type owner struct {
	mu      sync.Mutex
	id      string
	refused time.Time // when Stripe would not say
}

// OwnAccount is the account that the key belongs to (https://docs.stripe.com/api/accounts/retrieve), empty where a
// restricted key may not read it. It is asked once: an event may name the account that it is sent to. Its errors are
// *payment.APIError.
func (p *Provider) OwnAccount(ctx context.Context) (string, error) {
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	if p.owner.id != "" || time.Since(p.owner.refused) < refusedFor {
		return p.owner.id, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	ctx, answer := providerhttp.Watch(ctx)
	found, err := p.client.V1Accounts.Retrieve(ctx, nil)
	var failed *payment.APIError
	switch err = apiError(answer, err); {
	case errors.As(err, &failed) && refuses(failed):
		p.owner.refused = time.Now()
		return "", nil
	case err != nil:
		return "", err
	}
	p.owner.id = providerhttp.CleanID(found.ID)
	return p.owner.id, nil
}

// refuses says that asking again brings the same answer.
func refuses(e *payment.APIError) bool {
	class, _ := order.Classify(e.Failure())
	return class.Final()
}

package webhook

import (
	"context"
	"errors"
	"net/http"

	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// Payment answers POST /webhooks/payments/{environment}.
func (h *Handlers) Payment(w http.ResponseWriter, r *http.Request) {
	environment, known := h.Environments[r.PathValue("environment")]
	if !known {
		h.unknown(w, r)
		return
	}
	provider := environment.Provider
	body, ok := h.verified(w, r, sender{label: environment.Name, signed: provider.Signed, verify: provider.Verify})
	if !ok {
		return
	}
	event, refusal, ok := h.readEvent(environment, body)
	if !ok {
		h.respond(w, environment.Name, refusal)
		return
	}
	h.respond(w, environment.Name, h.storeEvent(r.Context(), environment, event))
}

func (h *Handlers) unknown(w http.ResponseWriter, r *http.Request) {
	const label = "unknown"
	if r.Method != http.MethodPost {
		h.respond(w, label, responseMethod)
		return
	}
	h.respond(w, label, responseUnknown)
}

// readEvent translates a verified body and compares it with the environment that it came to.
func (h *Handlers) readEvent(environment Environment, body []byte) (payment.Event, response, bool) {
	event, err := environment.Provider.Translate(body)
	switch {
	case err != nil, event.ID == "", event.Type == "",
		!storable(event.ID, event.Type, event.Session, event.PaymentRef, event.Account):
		h.Log.Warn("webhook body refused", "environment", environment.Name, "malformed", err == nil || errors.Is(err, payment.ErrMalformed))
		return event, responseMalformed, false
	case event.Mode != "" && event.Mode != environment.Mode:
		h.Log.Warn("webhook of the other mode refused: point the provider's endpoint at the environment of its mode",
			"environment", environment.Name, "environment_mode", string(environment.Mode), "event_id", event.ID)
		return event, responseMode, false
	case event.Kind == payment.EventCheckout && !environment.Provider.ValidSession(event.Session):
		h.Log.Warn("webhook body refused", "environment", environment.Name, "event_id", event.ID, "malformed_session", true)
		return event, responseMalformed, false
	}
	return event, response{}, true
}

// storeEvent commits the event and dispatches it. The provider hanging up changes neither.
func (h *Handlers) storeEvent(ctx context.Context, environment Environment, event payment.Event) response {
	ctx = context.WithoutCancel(ctx)
	log := h.Log.With("environment", environment.Name, "event_id", event.ID)
	ignored, err := environment.foreign(ctx, event)
	if err != nil {
		log.Error("it is not known whose event this is: the provider will send it again", "error", err)
		return responseUnavailable
	}

	failpoint.Hit("webhook.before_store")
	key, stored, err := h.store(ctx, environment, event, ignored)
	if err != nil {
		log.Error("webhook could not be stored: the provider will send it again", "error", err)
		return responseUnavailable
	}
	failpoint.Hit("webhook.stored")
	if stored.New {
		log.Info("webhook stored", "event_type", event.Type, "ignored", ignored, "next", string(stored.Next))
	}
	if ignored || stored.Next == ledger.NextNothing {
		return responseStored
	}

	dispatching, cancel := context.WithTimeout(ctx, dispatchTime)
	defer cancel()
	if err := h.Dispatcher.Dispatch(dispatching, key, event.ID, stored.Next); err != nil {
		log.Warn("event not dispatched yet: the dispatcher repeats it", "order", key.String(), "error", err)
	}
	return responseStored
}

// foreign says that an event belongs to another account. It is ours where it names none, the connected account of the
// environment, or the account of the environment's key, which is asked for once.
func (e Environment) foreign(ctx context.Context, event payment.Event) (bool, error) {
	if event.Account == "" || event.Account == e.Account {
		return false, nil
	}
	provider, shared := e.Provider.(payment.Owner)
	if !shared || event.Session == "" && event.PaymentRef == "" {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	own, err := provider.OwnAccount(ctx)
	return event.Account != own, err
}

// store commits the event, and says which order it belongs to and what has to happen next.
func (h *Handlers) store(ctx context.Context, environment Environment, event payment.Event, ignored bool) (order.Key, ledger.Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	session := event.Session
	if !environment.Provider.ValidSession(session) {
		session = "" // of a reversal: the payment names the order as well
	}
	stored, err := h.Events.StoreEvent(ctx, ledger.WebhookEvent{
		Environment: environment.Name,
		ID:          event.ID,
		Type:        event.Type,
		Kind:        string(event.Kind),
		Hint:        string(event.Hint),
		Session:     session,
		PaymentRef:  event.PaymentRef,
		Ignored:     ignored,
	})
	return order.Key{Environment: environment.Name, Session: stored.Session}, stored, err
}

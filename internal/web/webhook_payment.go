package web

import (
	"context"
	"errors"
	"net/http"

	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// paymentWebhook answers POST /webhooks/payments/{environment}: limit, verify the raw bytes, read, store, hand over. It
// says 200 only for what is committed, or verified and not ours.
func (s *server) paymentWebhook(w http.ResponseWriter, r *http.Request) {
	environment, known := s.Environments[r.PathValue("environment")]
	label := environment.Name
	if !known {
		label = "unknown"
	}
	switch {
	case r.Method != http.MethodPost:
		s.reply(w, label, answerMethod)
		return
	case !known:
		s.reply(w, label, answerUnknown)
		return
	}
	body, refusal, read := s.body(w, r, label)
	if !read {
		s.reply(w, label, refusal)
		return
	}
	if err := environment.Provider.Verify(r.Header, body, s.Now()); err != nil {
		s.Log.Warn("webhook signature refused", "environment", label, "cause", err.Error())
		s.reply(w, label, answerSignature)
		return
	}
	if encoded(r) {
		s.reply(w, label, answerEncoding)
		return
	}
	event, refusal, ok := s.readEvent(environment, body)
	if !ok {
		s.reply(w, label, refusal)
		return
	}
	s.reply(w, label, s.storeEvent(r.Context(), environment, event))
}

// readEvent translates a verified body and holds it against the environment that it came to.
func (s *server) readEvent(environment Environment, body []byte) (payment.Event, answer, bool) {
	event, err := environment.Provider.Translate(body)
	switch {
	case err != nil, event.ID == "", event.Type == "",
		!storable(event.ID, event.Type, event.Session, event.PaymentRef, event.Account):
		s.Log.Warn("webhook body refused", "environment", environment.Name, "malformed", err == nil || errors.Is(err, payment.ErrMalformed))
		return event, answerMalformed, false
	case event.Mode != "" && event.Mode != environment.Mode:
		s.Log.Warn("webhook of the other mode refused: point the provider's endpoint at the environment of its mode",
			"environment", environment.Name, "environment_mode", string(environment.Mode), "event_id", event.ID)
		return event, answerMode, false
	case event.Kind == payment.EventCheckout && !environment.Provider.ValidSession(event.Session):
		s.Log.Warn("webhook body refused", "environment", environment.Name, "event_id", event.ID, "malformed_session", true)
		return event, answerMalformed, false
	}
	return event, answer{}, true
}

// storeEvent commits the event and hands it over. The provider hanging up changes neither.
func (s *server) storeEvent(ctx context.Context, environment Environment, event payment.Event) answer {
	ctx = context.WithoutCancel(ctx)
	log := s.Log.With("environment", environment.Name, "event_id", event.ID)
	ignored := event.Account != "" && event.Account != environment.Account

	failpoint.Hit("webhook.before_store")
	key, stored, err := s.store(ctx, environment, event, ignored)
	if err != nil {
		log.Error("webhook could not be stored: the provider will send it again", "error", err)
		return answerUnavailable
	}
	failpoint.Hit("webhook.stored")
	if stored.New {
		log.Info("webhook stored", "event_type", event.Type, "ignored", ignored, "next", string(stored.Next))
	}
	if ignored || stored.Next == ledger.NextNothing {
		return answerStored
	}
	handing, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	if err := s.Dispatcher.Dispatch(handing, key, event.ID, stored.Next); err != nil {
		log.Warn("event not handed over yet: the dispatcher will", "order", key.String(), "error", err)
	}
	return answerStored
}

// store keeps the event, and says which order it belongs to and what has to happen next. An event about money names a
// payment and no session: its order is found by that, and one that comes before its order waits for it.
func (s *server) store(ctx context.Context, environment Environment, event payment.Event, ignored bool) (order.Key, ledger.Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	e := ledger.WebhookEvent{
		Environment: environment.Name,
		ID:          event.ID,
		Type:        event.Type,
		Kind:        string(event.Kind),
		Hint:        string(event.Hint),
		Session:     event.Session,
		PaymentRef:  event.PaymentRef,
		Ignored:     ignored,
	}
	money := event.Kind == payment.EventRefund || event.Kind == payment.EventDispute
	if money && !environment.Provider.ValidSession(e.Session) {
		e.Session = ""
	}
	if money && e.PaymentRef+e.Session != "" && !ignored {
		session, stored, err := s.Events.StoreReversal(ctx, e)
		return order.Key{Environment: environment.Name, Session: session}, stored, err
	}
	stored, err := s.Events.StoreEvent(ctx, e)
	return order.Key{Environment: environment.Name, Session: event.Session}, stored, err
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// webhookURLs is the body of PUT /control/config.
type webhookURLs struct {
	Payments string `json:"webhook_url,omitempty"`
	Email    string `json:"email_webhook_url,omitempty"`
}

func (s *Sandbox) controlConfig(w http.ResponseWriter, r *http.Request) {
	var in webhookURLs
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	s.SetWebhookURLs(in.Payments, in.Email)
	w.WriteHeader(http.StatusNoContent)
}

// CreateSession adds a session as the judge wants it, with everything left out filled in.
func (s *Sandbox) CreateSession(sess Session) (Session, error) {
	if err := s.fill(&sess); err != nil {
		return sess, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.sessions[sess.ID]; taken {
		return sess, errors.New("id: there is such a session already; change it with PATCH")
	}
	return sess, s.record(entry{Session: &sess})
}

// ChangeSession applies the fields that a JSON object names: {"payment_status":"paid"} lets the money arrive,
// {"payment_intent":{"status":"requires_payment_method"}} lets the payment fail.
func (s *Sandbox) ChangeSession(id string, patch []byte) (Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess, found := s.sessions[id]
	if !found {
		return sess, errUnknownSession
	}
	sess, err := sess.change(patch)
	if err != nil {
		return sess, err
	}
	if err := s.fill(&sess); err != nil {
		return sess, err
	}
	return sess, s.record(entry{Session: &sess})
}

func (s *Sandbox) controlCreateSession(w http.ResponseWriter, r *http.Request) {
	var sess Session
	if err := readJSON(r, &sess); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	answer(w, http.StatusCreated)(s.CreateSession(sess))
}

func (s *Sandbox) controlGetSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sess, found := s.sessions[r.PathValue("id")]
	s.mu.Unlock()
	if !found {
		controlError(w, http.StatusNotFound, errUnknownSession)
		return
	}
	writeJSON(w, http.StatusOK, sess)
}

func (s *Sandbox) controlChangeSession(w http.ResponseWriter, r *http.Request) {
	patch, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	answer(w, http.StatusOK)(s.ChangeSession(r.PathValue("id"), patch))
}

// answer writes a session or the reason why there is none.
func answer(w http.ResponseWriter, status int) func(Session, error) {
	return func(sess Session, err error) {
		switch {
		case errors.Is(err, errUnknownSession):
			controlError(w, http.StatusNotFound, err)
		case err != nil:
			controlError(w, http.StatusBadRequest, err)
		default:
			writeJSON(w, status, sess)
		}
	}
}

func (s *Sandbox) controlDeliver(w http.ResponseWriter, r *http.Request) {
	var in EventRequest
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	d, err := s.DeliverEvent(r.Context(), in)
	answerDelivery(w, d, err)
}

func (s *Sandbox) controlEmailEvent(w http.ResponseWriter, r *http.Request) {
	var in EmailEventRequest
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	d, err := s.DeliverEmailEvent(r.Context(), r.PathValue("id"), in)
	answerDelivery(w, d, err)
}

func answerDelivery(w http.ResponseWriter, d Delivery, err error) {
	switch {
	case errors.Is(err, errUnknownSession), errors.Is(err, errUnknownMessage):
		controlError(w, http.StatusNotFound, err)
	case errors.Is(err, errNoURL):
		controlError(w, http.StatusConflict, err)
	case err != nil:
		controlError(w, http.StatusBadRequest, err)
	default:
		writeJSON(w, http.StatusOK, d)
	}
}

func (s *Sandbox) controlAddFault(w http.ResponseWriter, r *http.Request) {
	var f Fault
	if err := readJSON(r, &f); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	f, err := s.AddFault(f)
	if err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	writeJSON(w, http.StatusCreated, f)
}

func (s *Sandbox) controlFaults(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Faults())
}

func (s *Sandbox) controlClearFaults(w http.ResponseWriter, _ *http.Request) {
	s.ClearFaults()
	w.WriteHeader(http.StatusNoContent)
}

func (s *Sandbox) controlRelease(w http.ResponseWriter, _ *http.Request) {
	s.Release()
	w.WriteHeader(http.StatusNoContent)
}

func (s *Sandbox) controlCounts(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Counts())
}

func (s *Sandbox) controlMessages(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Messages())
}

// controlWait answers 200 when the count is reached and 504 when the time is up first.
func (s *Sandbox) controlWait(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	what := WaitFor{What: q.Get("what"), Order: q.Get("order"), Key: q.Get("key"), Session: q.Get("session"), Fault: q.Get("fault")}
	if !slices.Contains(countable, what.What) {
		controlError(w, http.StatusBadRequest, fmt.Errorf("what: one of %s", strings.Join(countable, ", ")))
		return
	}
	n, timeout := 1, 10*time.Second
	var errN, errTimeout error
	if text := q.Get("n"); text != "" {
		n, errN = strconv.Atoi(text)
	}
	if text := q.Get("timeout"); text != "" {
		timeout, errTimeout = time.ParseDuration(text)
	}
	if err := errors.Join(errN, errTimeout); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	count, reached := s.Wait(ctx, what, n)
	status := http.StatusOK
	if !reached {
		status = http.StatusGatewayTimeout
	}
	writeJSON(w, status, map[string]any{"what": what.What, "n": count, "reached": reached})
}

package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// webhook is one event on its way to one address. Every attempt is signed anew, under the event's own id.
type webhook struct {
	url  string
	off  bool // nothing is sent
	body []byte
	sign func(h http.Header, at time.Time, body []byte)
}

// deliver makes the first attempts of n copies at the same moment and returns their statuses, 0 for no answer. With
// retry, the copies that were not taken are tried again in the background.
func (s *Sandbox) deliver(ctx context.Context, hook webhook, copies int, retry bool) []int {
	if hook.off {
		return nil
	}
	statuses := make([]int, max(1, copies))
	start := make(chan struct{})
	var attempts sync.WaitGroup
	for i := range statuses {
		attempts.Go(func() {
			<-start
			statuses[i] = s.attempt(ctx, hook)
		})
	}
	close(start)
	attempts.Wait()
	for _, status := range statuses {
		if retry && !accepted(status) {
			s.background(func() { s.redeliver(hook) })
		}
	}
	return statuses
}

// deliverLater does the same without keeping the caller waiting.
func (s *Sandbox) deliverLater(hook webhook, copies int) {
	s.background(func() { s.deliver(s.ctx, hook, copies, true) })
}

func (s *Sandbox) redeliver(hook webhook) {
	for _, wait := range s.cfg.RetryAfter {
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return
		}
		if accepted(s.attempt(s.ctx, hook)) {
			return
		}
	}
	s.cfg.Logger.Warn("webhook not taken, no more retries")
}

func accepted(status int) bool { return status >= 200 && status < 300 }

func (s *Sandbox) attempt(ctx context.Context, hook webhook) (status int) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if accepted(status) {
			s.taken++
		} else {
			s.refused++
		}
		s.notify()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.url, bytes.NewReader(hook.body))
	if err != nil {
		return 0
	}
	hook.sign(req.Header, s.cfg.Now(), hook.body)
	resp, err := s.client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be used again
	return resp.StatusCode
}

// signStripe is https://docs.stripe.com/webhooks#verify-manually: the secret's whole text is the key.
func signStripe(secret string) func(http.Header, time.Time, []byte) {
	return func(h http.Header, at time.Time, body []byte) {
		t := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(t + "."))
		mac.Write(body)
		h.Set("Stripe-Signature", "t="+t+",v1="+hex.EncodeToString(mac.Sum(nil)))
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
		h.Set("Accept", "*/*; q=0.5, application/json")
		h.Set("Cache-Control", "no-cache")
	}
}

// signSvix is the scheme of https://www.standardwebhooks.com under Svix's header names, as Resend sends it
// (https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests).
func signSvix(key []byte, id string) func(http.Header, time.Time, []byte) {
	return func(h http.Header, at time.Time, body []byte) {
		t := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + t + "."))
		mac.Write(body)
		h.Set("svix-id", id)
		h.Set("svix-timestamp", t)
		h.Set("svix-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		h.Set("Content-Type", "application/json")
		h.Set("User-Agent", "Svix-Webhooks/1.0 (sandbox)")
	}
}

func svixSecret(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, fmt.Errorf("email webhook secret: not whsec_ and base64: %w", err)
	}
	if len(key) == 0 {
		return nil, errors.New("email webhook secret: empty")
	}
	return key, nil
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"handover/internal/lab/sandbox"
)

// startSandbox serves the providers and the shop from this process, so that one program less is compiled. It accepts the
// shop's keys only.
func (s *running) startSandbox(a *apps) error {
	began := time.Now()
	log, err := os.Create(s.state.Log("sandbox"))
	if err != nil {
		return err
	}
	products := make([]sandbox.Product, len(forSale))
	for i, one := range forSale {
		products[i] = one.Product
	}
	a.providers, err = sandbox.New(sandbox.Config{
		StripeSecret: a.shop.secrets.StripeWebhook, StripeKeys: []string{a.shop.secrets.StripeKey}, WebhookURL: a.starter + "/webhooks/payments/test",
		ResendKey: a.shop.secrets.ResendKey, ResendWebhookSecret: a.shop.secrets.ResendWebhook, EmailWebhookURL: a.starter + "/webhooks/email",
		ShopReturnURL: a.starter, Products: products, Journal: s.state.Path("sandbox.journal"),
		Logger: slog.New(slog.NewJSONHandler(log, nil)),
	})
	if err != nil {
		log.Close()
		return fmt.Errorf("start the sandbox: %w", err)
	}
	listener, err := net.Listen("tcp", host(a.sandbox))
	if err != nil {
		a.providers.Close()
		log.Close()
		return fmt.Errorf("start the sandbox: %w", err)
	}
	serving := &served{http: &http.Server{Handler: a.providers.Handler(), ReadHeaderTimeout: 10 * time.Second}, providers: a.providers, log: log}
	s.mu.Lock()
	s.started = append(s.started, serving)
	s.mu.Unlock()
	go func() { _ = serving.http.Serve(listener) }() // it ends by Stop
	s.ready("sandbox", host(a.sandbox), began)
	return nil
}

// served is the running sandbox.
type served struct {
	http      *http.Server
	providers *sandbox.Sandbox
	log       *os.File
}

// Stop lets the requests under way finish.
func (s *served) Stop() {
	s.providers.ClearFaults()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = s.http.Shutdown(ctx)
	s.providers.Close()
	s.log.Close()
}

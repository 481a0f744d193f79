// Command sandbox runs the fakes of Stripe, Creem and Resend, with a shop to buy from and an inbox to read.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"handover/internal/lab/sandbox"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// settings reads the flags. Each has its default in the environment, where secrets belong: a command line is public.
func settings() (addr string, cfg sandbox.Config, err error) {
	env := func(name, fallback string) string { return cmp.Or(os.Getenv("SANDBOX_"+name), fallback) }
	flag.StringVar(&addr, "addr", env("ADDR", "127.0.0.1:9999"), "address to listen on (SANDBOX_ADDR)")
	flag.StringVar(&cfg.StripeSecret, "stripe-secret", env("STRIPE_SECRET", ""), "signs payment events (SANDBOX_STRIPE_SECRET)")
	keys := flag.String("stripe-keys", env("STRIPE_KEYS", ""), "accepted API keys, separated by commas; any when empty (SANDBOX_STRIPE_KEYS)")
	flag.StringVar(&cfg.WebhookURL, "webhook-url", env("WEBHOOK_URL", ""), "where payment events go (SANDBOX_WEBHOOK_URL)")
	flag.StringVar(&cfg.ResendKey, "resend-key", env("RESEND_KEY", ""), "accepted API key; any when empty (SANDBOX_RESEND_KEY)")
	flag.StringVar(&cfg.ResendWebhookSecret, "resend-webhook-secret", env("RESEND_WEBHOOK_SECRET", ""), "signs email events, whsec_… (SANDBOX_RESEND_WEBHOOK_SECRET)")
	flag.StringVar(&cfg.EmailWebhookURL, "email-webhook-url", env("EMAIL_WEBHOOK_URL", ""), "where email events go (SANDBOX_EMAIL_WEBHOOK_URL)")
	flag.StringVar(&cfg.CreemSecret, "creem-secret", env("CREEM_SECRET", ""), "signs Creem's events (SANDBOX_CREEM_SECRET)")
	flag.StringVar(&cfg.CreemWebhookURL, "creem-webhook-url", env("CREEM_WEBHOOK_URL", ""), "where Creem's events go (SANDBOX_CREEM_WEBHOOK_URL)")
	flag.StringVar(&cfg.ShopReturnURL, "shop-return-url", env("SHOP_RETURN_URL", ""), "base address of the order page (SANDBOX_SHOP_RETURN_URL)")
	flag.StringVar(&cfg.Environment, "environment", env("ENVIRONMENT", "test"), "environment in the order page's address (SANDBOX_ENVIRONMENT)")
	flag.StringVar(&cfg.Journal, "journal", env("JOURNAL", ""), "file that lets a restart forget nothing (SANDBOX_JOURNAL)")
	flag.IntVar(&cfg.RatePerSecond, "rate", 0, "emails a second before 429; 0 for no limit")
	flag.DurationVar(&cfg.KeyTTL, "key-ttl", 24*time.Hour, "how long an idempotency key of an email is kept")
	products := flag.String("products", env("PRODUCTS", ""),
		`what the shop sells: [{"price":"price_1","product":"prod_1","name":"…","amount":1200,"currency":"eur"}], or @FILE with that (SANDBOX_PRODUCTS)`)
	flag.Parse()
	if flag.NArg() > 0 {
		return "", cfg, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	for key := range strings.SplitSeq(*keys, ",") {
		if key = strings.TrimSpace(key); key != "" {
			cfg.StripeKeys = append(cfg.StripeKeys, key)
		}
	}
	text := []byte(*products)
	if file, isFile := strings.CutPrefix(*products, "@"); isFile {
		if text, err = os.ReadFile(file); err != nil {
			return "", cfg, fmt.Errorf("-products: %w", err)
		}
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &cfg.Products); err != nil {
			return "", cfg, fmt.Errorf("-products: %w", err)
		}
	}
	cfg.Logger = slog.New(slog.NewJSONHandler(os.Stderr, nil))
	return addr, cfg, nil
}

func run() error {
	addr, cfg, err := settings()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := sandbox.New(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Printf("sandbox: shop http://%[1]s/ inbox http://%[1]s/inbox stripe http://%[1]s creem http://%[1]s/creem resend http://%[1]s/resend\n", listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop()
	s.ClearFaults()
	last, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

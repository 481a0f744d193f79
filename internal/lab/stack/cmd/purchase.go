package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/await"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// purchase is one order on its way, and when each of its facts was first seen.
type purchase struct {
	Session  string `json:"session"`
	Finished bool   `json:"finished"` // all three facts were seen

	began    time.Time
	answered time.Duration // how long the webhook took
	seen     []sighting
}

// sighting is a fact with the time since the checkout was finished.
type sighting struct {
	what string
	at   time.Duration
}

func (p *purchase) key() string { return "test/" + p.Session }

// checkOut finishes a checkout at the sandbox, which no webhook reports yet.
func (a *apps) checkOut(what sale) (*purchase, error) {
	session, err := a.providers.CreateSession(sandbox.Session{
		Items:  []sandbox.Item{{Price: what.Price, Product: what.Product.Product, Name: what.Name, Quantity: 1}},
		Email:  "robin.sommer@example.com",
		Name:   "Robin Sommer",
		Amount: what.Amount, Currency: what.Currency,
	})
	return &purchase{Session: session.ID}, err
}

// deliver has the sandbox send the webhook for the purchase. A webhook that is not taken is repeated, as the provider would.
func (a *apps) deliver(ctx context.Context, p *purchase) error {
	p.began = time.Now()
	delivery, err := a.providers.DeliverEvent(ctx, sandbox.EventRequest{Type: harness.Completed, Session: p.Session, Retry: true})
	p.answered = time.Since(p.began)
	if err == nil && !slices.Equal(delivery.Statuses, []int{http.StatusOK}) {
		err = fmt.Errorf("the webhook was answered %v, not 200", delivery.Statuses)
	}
	return err
}

// watch follows the order page until the three facts are there.
func (a *apps) watch(ctx context.Context, p *purchase, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		page, err := harness.Status(ctx, a.starter, p.key())
		if err != nil && ctx.Err() == nil {
			return err
		}
		p.note("payment confirmed", page.Payment.State == order.PaymentConfirmed)
		p.note("access granted", page.Access.State == order.AccessGranted)
		p.note("email accepted", page.Email.State == order.EmailAccepted)
		if len(p.seen) == 3 {
			p.Finished = true
			return nil
		}
		facts := fmt.Sprintf("payment %s, access %s, email %s", page.Payment.State, page.Access.State, page.Email.State)
		if strings.Contains(facts, "needs_attention") || page.Payment.State == order.PaymentIgnored || page.Payment.State == order.PaymentFailed {
			return fmt.Errorf("order %s is not delivered: %s", p.key(), facts)
		}
		if !await.Pause(ctx, interval(time.Since(p.began))) {
			return fmt.Errorf("order %s is not delivered after %s: %s: %w", p.key(), limit, facts, ctx.Err())
		}
	}
}

// interval is short while the times are of interest, and long after that.
func interval(waited time.Duration) time.Duration {
	if waited < 2*time.Second {
		return 5 * time.Millisecond
	}
	return 250 * time.Millisecond
}

func (p *purchase) note(what string, now bool) {
	known := slices.ContainsFunc(p.seen, func(s sighting) bool { return s.what == what })
	if now && !known {
		p.seen = append(p.seen, sighting{what, time.Since(p.began)})
	}
}

// took is the time from the finished checkout to the last fact.
func (p *purchase) took() time.Duration { return p.seen[len(p.seen)-1].at }

// openLink does what the buyer does with the message: opens the link in it, and fetches the file behind it.
func (a *apps) openLink(ctx context.Context, p *purchase) (bytesRead int, err error) {
	link, token := "", ""
	for _, m := range a.providers.Messages() {
		if m.Order() == p.key() {
			link, token = harness.Link(m.Text)
		}
	}
	if link == "" {
		return 0, errors.New("the message in the sandbox's inbox has no link")
	}
	page, err := get(ctx, link)
	if err != nil {
		return 0, fmt.Errorf("open the emailed link: %w", err)
	}
	file := regexp.MustCompile(regexp.QuoteMeta("/d/"+token) + `/[0-9]+`).FindString(page)
	if file == "" {
		return 0, errors.New("the page behind the emailed link offers no download")
	}
	text, err := get(ctx, a.starter+file)
	if err == nil && !strings.HasPrefix(text, "%PDF-") {
		err = errors.New("it is not the file that was bought")
	}
	if err != nil {
		return 0, fmt.Errorf("fetch the download: %w", err)
	}
	return len(text), nil
}

// get returns the body of a page that answers 200. Its error does not show the address: a link is a secret.
func get(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", errors.New("not an address")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", errors.New("no answer")
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %d", response.StatusCode)
	}
	return string(text), err
}

// loadUnfinished reads the purchase of an earlier start; nil when there was none, or when it was finished.
func loadUnfinished(path string) *purchase {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var p purchase
	if json.Unmarshal(text, &p) != nil || p.Session == "" || p.Finished {
		return nil
	}
	return &p
}

func (p *purchase) save(path string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

package main

import (
	"bytes"
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

// orderPage is the JSON of the order page, as far as it is needed here.
type orderPage struct {
	Payment struct {
		State string `json:"state"`
	} `json:"payment"`
	Access struct {
		State string `json:"state"`
	} `json:"access"`
	Email struct {
		State string `json:"state"`
	} `json:"email"`
	Licenses []json.RawMessage `json:"licenses"`
}

// checkOut finishes a checkout at the sandbox, which does not tell anybody yet.
func (a *apps) checkOut(ctx context.Context, what sale) (*purchase, error) {
	var session struct {
		ID string `json:"id"`
	}
	err := call(ctx, http.MethodPost, a.sandbox+"/control/sessions", map[string]any{
		"items":  []any{map[string]any{"price": what.Price, "product": what.Product, "name": what.Name, "quantity": 1}},
		"email":  "robin.sommer@example.com",
		"name":   "Robin Sommer",
		"amount": what.Amount, "currency": what.Currency,
	}, &session)
	if err == nil && session.ID == "" {
		err = errors.New("the sandbox names no session")
	}
	return &purchase{Session: session.ID}, err
}

// tell has the sandbox send the webhook for the purchase. A webhook that is not taken is repeated, as the provider would.
func (a *apps) tell(ctx context.Context, p *purchase) error {
	var delivery struct {
		Statuses []int `json:"statuses"`
	}
	p.began = time.Now()
	err := call(ctx, http.MethodPost, a.sandbox+"/control/events", map[string]any{
		"type": "checkout.session.completed", "session": p.Session, "copies": 1, "retry": true,
	}, &delivery)
	p.answered = time.Since(p.began)
	if err == nil && !slices.Equal(delivery.Statuses, []int{http.StatusOK}) {
		err = fmt.Errorf("the webhook was answered %v, not 200", delivery.Statuses)
	}
	return err
}

// await watches the order page until the three facts are there.
func (a *apps) await(ctx context.Context, p *purchase, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var page orderPage
	for {
		if err := call(ctx, http.MethodGet, a.starter+"/orders/"+p.key(), nil, &page); err != nil && ctx.Err() == nil {
			return err
		}
		p.note("payment confirmed", page.Payment.State == "confirmed")
		p.note("access granted", page.Access.State == "granted")
		p.note("email accepted", page.Email.State == "accepted")
		if len(p.seen) == 3 {
			p.Finished = true
			return nil
		}
		facts := fmt.Sprintf("payment %s, access %s, email %s", page.Payment.State, page.Access.State, page.Email.State)
		if strings.Contains(facts, "needs_attention") || page.Payment.State == "ignored" || page.Payment.State == "failed" {
			return fmt.Errorf("order %s is not delivered: %s", p.key(), facts)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("order %s is not delivered after %s: %s: %w", p.key(), limit, facts, ctx.Err())
		case <-time.After(lookAgain(time.Since(p.began))):
		}
	}
}

// lookAgain is often while the times are of interest, and seldom after that.
func lookAgain(waited time.Duration) time.Duration {
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
	var messages []struct {
		Text string            `json:"text"`
		Tags map[string]string `json:"tags"`
	}
	if err := call(ctx, http.MethodGet, a.sandbox+"/control/messages", nil, &messages); err != nil {
		return 0, err
	}
	link := ""
	for _, m := range messages {
		if m.Tags["handover_session"] == p.Session {
			link = regexp.MustCompile(`https?://\S+/d/[A-Za-z0-9_-]+`).FindString(m.Text)
		}
	}
	if link == "" {
		return 0, errors.New("the message in the sandbox's inbox has no link")
	}
	page, err := get(ctx, link)
	if err != nil {
		return 0, fmt.Errorf("open the emailed link: %w", err)
	}
	_, token, _ := strings.Cut(link, "/d/")
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

// call speaks JSON; in may be nil.
func call(ctx context.Context, method, address string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, address, &body)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s answered %d: %s", method, address, response.StatusCode, bytes.TrimSpace(text))
	}
	return json.Unmarshal(text, out)
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

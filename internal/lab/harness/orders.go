package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Completed is the event that most orders begin with.
const Completed = "checkout.session.completed"

// EmailKey is the idempotency key of a generation of an order's email.
func EmailKey(session string, generation int) string {
	return fmt.Sprintf("handover/test/%s/email/%d", session, generation)
}

// WorkflowID is the ID of an order's workflow.
func WorkflowID(session string) string { return "order:test:" + session }

var (
	linkPattern    = regexp.MustCompile(`https?://[^\s"<>]+/d/([A-Za-z0-9_-]{43})`)
	licensePattern = regexp.MustCompile(`\b(?:TEST-)?[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){4}\b`)
)

// Link is the link in a message, and its token; empty when there is none.
func Link(text string) (link, token string) {
	if found := linkPattern.FindStringSubmatch(text); found != nil {
		return found[0], found[1]
	}
	return "", ""
}

// Licenses are the licence keys in a text.
func Licenses(text string) []string { return licensePattern.FindAllString(text, -1) }

// ErrNoStatus means that the order page did not answer 200.
var ErrNoStatus = errors.New("the order page gives no status")

// Status is an order as the order page of a starter shows it.
func Status(ctx context.Context, starter, key string) (status order.StatusJSON, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, starter+"/orders/"+key, nil)
	if err != nil {
		return status, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return status, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return status, fmt.Errorf("%w: it answers %d", ErrNoStatus, response.StatusCode)
	}
	return status, json.NewDecoder(response.Body).Decode(&status)
}

// Query asks the shop's database, on a connection of its own: the database may have been killed in between.
func (s *Shop) Query(ctx context.Context, ask func(context.Context, *pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return ask(ctx, conn)
}

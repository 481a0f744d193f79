package resend_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/email"
	"handover/internal/email/resend"
)

var (
	noon   = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	wanted = email.Lookup{
		From: "Example Shop <orders@example.com>", To: "Private+1@example.org", Subject: "Your download: The Guide",
		Since: noon, Until: noon.Add(time.Hour),
	}
)

// listed is a message as the list shows it.
type listed struct {
	ID        string   `json:"id"`
	From      string   `json:"from"`
	To        []string `json:"to"`
	Subject   string   `json:"subject"`
	CreatedAt string   `json:"created_at"`
	Bcc       []string `json:"bcc"`
	LastEvent string   `json:"last_event"`
}

// sent is the wanted message, taken some minutes after noon, changed as the test wants.
func sent(id string, minutes int, change func(*listed)) listed {
	m := listed{
		ID: id, From: wanted.From, To: []string{"private+1@example.org"}, Subject: wanted.Subject, LastEvent: "delivered",
		CreatedAt: noon.Add(time.Duration(minutes) * time.Minute).Format("2006-01-02T15:04:05.000000-07:00"),
	}
	if change != nil {
		change(&m)
	}
	return m
}

// list answers as Resend does: newest first, a page at a time.
func list(messages []listed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
		if err != nil || limit < 1 || limit > 100 || r.Method != http.MethodGet || r.URL.Path != "/api/emails" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		rest := messages
		if after := r.URL.Query().Get("after"); after != "" {
			rest = messages[slices.IndexFunc(messages, func(m listed) bool { return m.ID == after })+1:]
		}
		page := rest[:min(limit, len(rest))]
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "has_more": len(rest) > len(page), "data": page})
	}
}

func TestOnlyWhatCanBeTheMessageIsFound(t *testing.T) {
	t.Parallel()
	p, in := api(t, list([]listed{
		sent("too-late", 61, nil),
		sent("last", 60, nil),
		sent("by-name", 40, func(m *listed) { m.To = []string{"Private <PRIVATE+1@example.org>"} }),
		sent("other-recipient", 30, func(m *listed) { m.To = []string{"public@example.org"} }),
		sent("two-recipients", 30, func(m *listed) { m.To = append(m.To, "public@example.org") }),
		sent("nobody", 30, func(m *listed) { m.To = nil }),
		sent("other-subject", 30, func(m *listed) { m.Subject = "Your download: The Guide, part 2" }),
		sent("other-sender", 30, func(m *listed) { m.From = "Example Shop <news@example.com>" }),
		sent("old-form", 20, func(m *listed) { m.CreatedAt = "2026-03-14 12:20:00.123456+00" }),
		sent("first", 0, nil),
		sent("too-early", -1, nil),
	}))
	ids, err := p.Find(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"last", "by-name", "old-form", "first"}, ids); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if got := in.all(); len(got) != 1 || got[0].header.Get("Authorization") != "Bearer re_key" {
		t.Errorf("%d requests, want one with the key", len(got))
	}
}

// others are n messages to somebody else, the first of them so many minutes after noon and each a second older.
func others(n, minutes int) []listed {
	made := make([]listed, n)
	for i := range made {
		made[i] = sent(fmt.Sprintf("other-%d-%d", minutes, i), 0, func(m *listed) {
			m.To = []string{"public@example.org"}
			m.CreatedAt = noon.Add(time.Duration(minutes)*time.Minute - time.Duration(i)*time.Second).Format(time.RFC3339Nano)
		})
	}
	return made
}

func TestALookGoesBackToTheFirstAttemptAndNoFurther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		messages []listed
		requests int
		found    []string
	}{
		"nothing was ever sent":   {nil, 1, nil},
		"it is on the third page": {slices.Concat(others(250, 59), []listed{sent("it", 1, nil)}), 3, []string{"it"}},
		"everything before it is older": {slices.Concat(others(90, 59), []listed{sent("it", 1, nil)}, others(900, -60)),
			1, []string{"it"}},
		"the oldest page it can be on is the last": {slices.Concat(others(1500, 59)), 15, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := api(t, list(c.messages))
			ids, err := p.Find(t.Context(), wanted)
			if err != nil || !slices.Equal(ids, c.found) {
				t.Errorf("found %v, %v; want %v", ids, err, c.found)
			}
			if got := len(in.all()); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
		})
	}
}

func TestAListThatIsTooLongSaysNothing(t *testing.T) {
	t.Parallel()
	p, in := api(t, list(slices.Concat([]listed{sent("it", 60, nil)}, others(2200, 59))))
	ids, err := p.Find(t.Context(), wanted)
	if !errors.Is(err, email.ErrNoList) || ids != nil {
		t.Errorf("found %v, %v; want none and ErrNoList", ids, err)
	}
	if got := len(in.all()); got != 20 {
		t.Errorf("%d requests, want 20", got)
	}
}

func TestAMessageThatCannotBePlacedIsNotPassedOver(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]listed{
		"no time":         sent("it", 30, func(m *listed) { m.CreatedAt = "" }),
		"not a time":      sent("it", 30, func(m *listed) { m.CreatedAt = "yesterday" }),
		"no id":           sent("", 30, nil),
		"not a usable id": sent("a b\nc", 30, nil),
	} {
		p, _ := api(t, list([]listed{sent("another", 40, nil), m}))
		if ids, err := p.Find(t.Context(), wanted); !errors.Is(err, email.ErrNoList) || ids != nil {
			t.Errorf("%s: found %v, %v; want none and ErrNoList", name, ids, err)
		}
	}
}

func TestWhatAnAnswerToALookMeans(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		noList bool
		want   email.SendError
	}{
		"a key that may only send": {401, `{"name":"restricted_api_key","message":"private"}`, true, email.SendError{}},
		"a wrong key":              {403, `{"name":"invalid_api_key","message":"private"}`, true, email.SendError{}},
		"an API without a list":    {405, `{"name":"method_not_allowed"}`, true, email.SendError{}},
		"a redirect":               {302, ``, true, email.SendError{}},
		"out of order":             {503, `{"name":"service_unavailable"}`, false, email.SendError{Status: 503, Name: "service_unavailable"}},
		"not a list":               {200, `<html>private</html>`, false, email.SendError{Status: 200, Unreadable: true}},
		"a long wait": {429, `{"name":"rate_limit_exceeded","message":"private"}`, false,
			email.SendError{Status: 429, Name: "rate_limit_exceeded", RetryAfter: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := api(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.want.RetryAfter > 0 {
					w.Header().Set("Retry-After", strconv.Itoa(int(c.want.RetryAfter.Seconds())))
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			_, err := p.Find(t.Context(), wanted)
			var got *email.SendError
			switch {
			case errors.Is(err, email.ErrNoList) != c.noList:
				t.Errorf("error %v; want ErrNoList: %v", err, c.noList)
			case c.noList:
			case !errors.As(err, &got):
				t.Errorf("error %v, want a *SendError", err)
			default:
				if diff := cmp.Diff(c.want, *got); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
			}
			if strings.Contains(err.Error(), "private") || strings.Contains(err.Error(), "example.org") {
				t.Errorf("the error repeats what the provider or we wrote: %v", err)
			}
			if n := len(in.all()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

func TestAShortWaitIsWaitedForInTheMiddleOfALook(t *testing.T) {
	t.Parallel()
	messages := slices.Concat(others(100, 59), []listed{sent("it", 1, nil)})
	refused := false
	p, in := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("after") && !refused {
			refused = true
			w.Header().Set("Retry-After", "0.05")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		list(messages)(w, r)
	})
	if ids, err := p.Find(t.Context(), wanted); err != nil || !slices.Equal(ids, []string{"it"}) {
		t.Errorf("found %v, %v", ids, err)
	}
	if n := len(in.all()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestAWaitThatLastsTooLongForTheLookEndsIt(t *testing.T) {
	t.Parallel()
	p, in := api(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := p.Find(ctx, wanted)
	var limited *email.SendError
	if !errors.As(err, &limited) || limited.RetryAfter != 9*time.Second || ctx.Err() != nil {
		t.Errorf("error %v after %v; want the limit at once", err, ctx.Err())
	}
	if n := len(in.all()); n != 1 {
		t.Errorf("%d requests, want one", n)
	}
}

func TestALookWithoutAnAnswerMayBeRepeated(t *testing.T) {
	t.Parallel()
	p := provider(t, func(c *resend.Config) { c.APIURL = "http://127.0.0.1:1" })
	_, err := p.Find(t.Context(), wanted)
	var none *email.SendError
	if !errors.As(err, &none) || none.Status != 0 {
		t.Errorf("error %v", err)
	}
}

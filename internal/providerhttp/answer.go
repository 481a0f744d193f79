// Package providerhttp reads what a provider says over HTTP: the answer that an SDK keeps to itself, and JSON of which only a few
// fields matter.
package providerhttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// maxErrorBody is how much of an error's body is kept. Providers' errors are a few hundred bytes.
	maxErrorBody = 64 << 10
	// idlePerHost is how many connections are kept open to one provider: as many as calls run at once in a busy worker.
	idlePerHost = 64
	// longestWait caps what a provider may ask for. A longer wait than this is a mistake of the header's.
	longestWait = 7 * 24 * time.Hour
)

// Answer is what came back on the wire for the newest call made with a watched context.
type Answer struct {
	Status     int           // 0 when no HTTP answer came at all
	RetryAfter time.Duration // what the Retry-After header asks for; 0 when it does not
	ErrorBody  []byte        // the first 64 KiB of the body of any answer from 300 up
}

type answerKey struct{}

// Watch returns a context whose calls, made through a client of this package, leave their answer in the record. The
// record belongs to one goroutine: read it after the call has returned.
func Watch(ctx context.Context) (context.Context, *Answer) {
	a := &Answer{}
	return context.WithValue(ctx, answerKey{}, a), a
}

// Client returns a client that records answers for watched contexts, keeps connections open and follows no redirects: a
// provider's API has none, and following one would hand the key and the buyer's data to another address. The given
// client, which may be nil, lends its transport and is not changed.
func Client(base *http.Client) *http.Client {
	c := http.Client{}
	if base != nil {
		c = *base
	}
	if c.Transport == nil {
		c.Transport = transport()
	}
	c.Transport = recorder{next: c.Transport}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func transport() http.RoundTripper {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t := shared.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, idlePerHost
	return t
}

type recorder struct{ next http.RoundTripper }

func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	a, watched := req.Context().Value(answerKey{}).(*Answer)
	if watched {
		*a = Answer{}
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil || !watched {
		return resp, err
	}
	a.Status, a.RetryAfter = resp.StatusCode, retryAfter(resp.Header, time.Now())
	if resp.StatusCode >= http.StatusMultipleChoices {
		// A body that breaks off is an error answer all the same: the status has been seen.
		a.ErrorBody, _ = io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(a.ErrorBody))
	}
	return resp, nil
}

// retryAfter reads the header's two forms, seconds and a date (RFC 9110, 10.2.3). A date is measured from the answer's
// own Date, so that a clock of ours that is off does not matter.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds > 0) {
			return 0
		}
		return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), longestWait)
}

// BaseURL checks the address of an API, or of a stand-in for it, and returns it without a trailing slash. Empty means the
// provider's own.
func BaseURL(configured, own string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(cmp.Or(configured, own)))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("api_url is not an address such as https://api.example.com")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

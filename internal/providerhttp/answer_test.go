package providerhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/providerhttp"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// call makes one watched call and returns the record and the body as the caller sees it.
func call(t *testing.T, url string) (providerhttp.Answer, string, error) {
	t.Helper()
	ctx, answer := providerhttp.Watch(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := providerhttp.Client(nil).Do(req)
	if err != nil {
		return *answer, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return *answer, string(body), err
}

func TestAnErrorAnswerIsKeptAndStillReadable(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"name":"rate_limit_exceeded"}`)
	})
	got, body, err := call(t, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := providerhttp.Answer{Status: 429, RetryAfter: 3 * time.Second, ErrorBody: []byte(`{"name":"rate_limit_exceeded"}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if body != `{"name":"rate_limit_exceeded"}` {
		t.Errorf("the caller read %q", body)
	}
}

func TestASuccessIsNotReadAhead(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") })
	got, body, err := call(t, s.URL)
	if diff := cmp.Diff(providerhttp.Answer{Status: 200}, got); diff != "" || body != "fine" || err != nil {
		t.Errorf("body %q, error %v, answer (-want +got):\n%s", body, err, diff)
	}
}

func TestAnErrorWhoseBodyBreaksOffKeepsItsStatus(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>")
	})
	got, body, err := call(t, s.URL)
	if got.Status != 502 || body != "<html>" || err != nil {
		t.Errorf("status %d, body %q, error %v", got.Status, body, err)
	}
}

func TestALargeErrorBodyIsCutOff(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	})
	if got, _, _ := call(t, s.URL); got.Status != 500 || len(got.ErrorBody) != 64<<10 {
		t.Errorf("status %d, %d bytes kept", got.Status, len(got.ErrorBody))
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { followed.Store(true) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	got, _, err := call(t, s.URL)
	if got.Status != 307 || err != nil || followed.Load() {
		t.Errorf("status %d, error %v, followed %v", got.Status, err, followed.Load())
	}
}

func TestNoAnswerIsStatusZeroAlsoAfterAnEarlierOne(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	ctx, answer := providerhttp.Watch(t.Context())
	client := providerhttp.Client(nil)
	for _, url := range []string{s.URL, "http://127.0.0.1:1"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	if answer.Status != 0 {
		t.Errorf("status %d of the earlier call, want 0", answer.Status)
	}
}

func TestTheGivenClientIsNotChanged(t *testing.T) {
	t.Parallel()
	base := &http.Client{Timeout: time.Second}
	got := providerhttp.Client(base)
	if base.Transport != nil || base.CheckRedirect != nil {
		t.Error("the given client was changed")
	}
	if got.Timeout != time.Second {
		t.Errorf("timeout %v, want the given client's", got.Timeout)
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	t.Parallel()
	const date = "Mon, 02 Mar 2026 10:00:00 GMT"
	for _, test := range []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"30", 30 * time.Second},
		{" 30 ", 30 * time.Second},
		{"0.5", 500 * time.Millisecond},
		{"0", 0},
		{"-5", 0},
		{"NaN", 0},
		{"soon", 0},
		{"99999999999999999999", 7 * 24 * time.Hour},
		{"Mon, 02 Mar 2026 10:00:45 GMT", 45 * time.Second},
		{"Mon, 02 Mar 2026 09:00:00 GMT", 0},
		{"Mon, 02 Mar 9999 09:00:00 GMT", 7 * 24 * time.Hour},
	} {
		t.Run(test.value, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", date)
				w.Header().Set("Retry-After", test.value)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			if got, _, _ := call(t, s.URL); got.RetryAfter != test.want {
				t.Errorf("RetryAfter = %v, want %v", got.RetryAfter, test.want)
			}
		})
	}
}

func TestBaseURLIsAnAddressWithoutASlashAtItsEnd(t *testing.T) {
	t.Parallel()
	const own = "https://api.example.com"
	for _, test := range []struct {
		configured, want string
	}{
		{"", own},
		{"http://127.0.0.1:9999", "http://127.0.0.1:9999"},
		{" http://127.0.0.1:9999/ ", "http://127.0.0.1:9999"},
		{"http://127.0.0.1:9999/stripe//", "http://127.0.0.1:9999/stripe"},
		{"127.0.0.1:9999", ""},
		{"ftp://example.com", ""},
		{"/v1", ""},
		{"http://", ""},
		{"http://example.com?x=1", ""},
	} {
		got, err := providerhttp.BaseURL(test.configured, own)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("BaseURL(%q) = %q, %v; want %q", test.configured, got, err, test.want)
		}
	}
}

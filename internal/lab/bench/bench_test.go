package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
	"handover/internal/payment/stripe"
)

func TestQuantileIsOneOfTheValues(t *testing.T) {
	t.Parallel()
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = 100 - i
	}
	tests := []struct {
		values []int
		q      float64
		want   int
	}{
		{nil, 0.5, 0}, {[]int{7}, 0.99, 7}, {[]int{3, 1, 2}, 0.5, 2}, {hundred, 0.99, 99}, {hundred, 0.5, 50}, {hundred, 1, 100}, {hundred, 0, 1},
	}
	for _, test := range tests {
		if got := quantile(test.values, test.q); got != test.want {
			t.Errorf("quantile %v of %d values: got %d, want %d", test.q, len(test.values), got, test.want)
		}
	}
}

func TestMedianAndRounding(t *testing.T) {
	t.Parallel()
	got := []float64{median(nil), median([]float64{9}), median([]float64{5, 1, 2}), median([]float64{4, 1, 2, 9}),
		rounded(0), rounded(0.123456), rounded(1234.5), rounded(-98.76)}
	if diff := cmp.Diff([]float64{0, 9, 2, 3, 0, 0.123, 1230, -98.8}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStatIsReadPastAStrangeName(t *testing.T) {
	t.Parallel()
	got, err := parseStat([]byte("42 (a ) b (c) S 7 42 42 0 -1 4194304 9 8 7 6 150 50 30 20 20 0 1 0 100 1000 10 18446744073709551615"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (stat{parent: 7, own: 2 * time.Second, children: 500 * time.Millisecond}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := parseStat([]byte("42 (cut off) S 7")); err == nil {
		t.Error("a line that was cut off was read")
	}
}

// instantly is done as soon as it is started.
func instantly(done chan<- finish) func(context.Context, string) error {
	return func(_ context.Context, id string) error {
		done <- finish{id, time.Now()}
		return nil
	}
}

func settled(context.Context, string) error { return nil }

func TestBlockMeasuresEveryPieceAndHoldsTheLimit(t *testing.T) {
	t.Parallel()
	done := make(chan finish)
	running := make(chan string, 3)
	start := func(_ context.Context, id string) error { running <- id; return nil }
	go func() {
		for range 9 {
			id := <-running
			done <- finish{id, time.Now()}
		}
	}()
	ids := strings.Split("abcdefghi", "")
	b, err := drive(t.Context(), ids, 3, done, start, settled)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Latencies) != 9 || len(b.Answers) != 9 || b.Took <= 0 {
		t.Errorf("got %d latencies, %d answers, %s", len(b.Latencies), len(b.Answers), b.Took)
	}
	// running holds as many as may be in flight: with one more, a start would have blocked for good.
}

func TestBlockEndsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	done := make(chan finish, 10)
	_, err := drive(t.Context(), []string{"a", "b"}, 2, done, func(context.Context, string) error { return refused }, settled)
	if !errors.Is(err, refused) {
		t.Errorf("start: got %v", err)
	}
	_, err = drive(t.Context(), []string{"a"}, 1, done, instantly(done), func(context.Context, string) error { return refused })
	if !errors.Is(err, refused) {
		t.Errorf("settle: got %v", err)
	}
	done <- finish{"stranger", time.Now()}
	_, err = drive(t.Context(), []string{"a"}, 1, done, func(context.Context, string) error { return nil }, settled)
	if err == nil || !strings.Contains(err.Error(), "stranger") {
		t.Errorf("stranger: got %v", err)
	}
}

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	t.Parallel()
	took := func(seconds float64) block {
		return block{Latencies: make([]time.Duration, 100), Took: time.Duration(seconds * float64(time.Second))}
	}
	r := report{rounds: []round{{order: took(1), bare: took(1)}, {order: took(4), bare: took(2)}, {order: took(10), bare: took(8)}}}
	want := pair{Order: 25, Bare: 50, Ratio: 0.8}
	if diff := cmp.Diff(want, r.pair(block.perSecond)); diff != "" {
		t.Error(diff)
	}
}

func TestCommitsLeaveOutWhatRunsWithoutOrders(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var r report
	r.background(commits{n: 100, at: at}, commits{n: 120, at: at.Add(10 * time.Second)})
	r.commits(commits{n: 120, at: at}, commits{n: 720, pages: 50, at: at.Add(50 * time.Second)}, 100)
	if r.backgroundPerSecond != 2 || r.ledgerCommits != 5 || r.wholePages != 0.5 {
		t.Errorf("got %v a second, %v commits and %v pages an order", r.backgroundPerSecond, r.ledgerCommits, r.wholePages)
	}
}

func TestWebhookIsSignedAsTheProductVerifiesIt(t *testing.T) {
	t.Parallel()
	provider, err := stripe.New(stripe.Config{APIKey: "sk_test_1", WebhookSecrets: []string{harness.StripeSecret}, Mode: order.Test})
	if err != nil {
		t.Fatal(err)
	}
	verified := make(chan error, 1)
	starter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		verified <- provider.Verify(r.Header, body, time.Now())
	}))
	defer starter.Close()
	b := newBuyer(openSandbox(t), starter.URL)
	ids, err := b.prepare(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.pay(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := <-verified; err != nil {
		t.Error(err)
	}
}

func openSandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestEveryAcceptedMessageIsPassedOnOnceInOrder(t *testing.T) {
	t.Parallel()
	s := openSandbox(t)
	providers := httptest.NewServer(s.Handler())
	defer providers.Close()
	b := newBuyer(s, "http://127.0.0.1:1")
	ids, err := b.prepare(7)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var got []string
	for i, id := range ids {
		send(t, providers.URL, id)
		if i%3 != 0 {
			continue
		}
		for _, f := range b.accepted() {
			got = append(got, f.id)
			if f.at.Before(began) || f.at.After(time.Now()) {
				t.Errorf("%s was accepted at %s", f.id, f.at)
			}
		}
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Error(diff)
	}
}

// send is what the worker does with a message, in short.
func send(t *testing.T, base, session string) {
	t.Helper()
	body := `{"from":"shop@example.com","to":["a@example.com"],"subject":"s","text":"t","tags":[
		{"name":"handover_environment","value":"test"},{"name":"handover_session","value":"` + session + `"}]}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/resend/emails", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer re_1")
	r.Header.Set("Idempotency-Key", session)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("got %d", answer.StatusCode)
	}
}

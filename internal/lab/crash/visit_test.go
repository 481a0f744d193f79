package crash_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// pageStatus opens the order page of any environment as JSON.
func pageStatus(t *testing.T, s *crash.Shop, key string) (status order.StatusJSON) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.PublicURL+"/orders/"+key, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	return status
}

// The buyer comes back from the checkout, and no webhook ever comes.
func TestBuyersVisitDeliversWhatNoWebhookReported(t *testing.T) {
	t.Parallel()
	s := openCreem(t)
	atCreem := sellAtCreem(t, s, sandbox.Checkout{})
	reported := s.Buy(nil)
	s.AwaitState(reported, order.CustomerReady)
	for _, key := range []string{"test/" + s.Checkout(nil), "creem/" + atCreem.ID} {
		began := time.Now()
		s.Eventually(key+" is ready", func() bool { return pageStatus(t, s, key).CustomerState == order.CustomerReady })
		t.Logf("%s: ready %s after the page was opened", key, time.Since(began).Round(time.Millisecond))
		if found := pageStatus(t, s, key).Found; found != "page" {
			t.Errorf("%s was found by %q", key, found)
		}
	}
	status := pageStatus(t, s, "test/"+reported)
	if status.Found != "" || s.Sandbox.Counts().Stripe.Retrieves[reported] != 1 {
		t.Errorf("a sale whose webhook came: found by %q, retrieved %d times", status.Found, s.Sandbox.Counts().Stripe.Retrieves[reported])
	}
}

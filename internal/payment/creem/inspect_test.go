package creem_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"handover/internal/finding"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/creem"
)

func TestInspectJudgesTheKeyByItsAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   finding.State
		says   string
	}{
		"right":      {200, `{"items":[],"pagination":{"next_page":null}}`, finding.OK, "takes the key, in test mode"},
		"wrong":      {403, `{"status":403,"message":["private_text"]}`, finding.Failure, "refuses the key"},
		"down":       {503, `private_text`, finding.Failure, "HTTP 503"},
		"not Creem":  {200, `<html>private_text</html>`, finding.Failure, "does not answer"},
		"rate limit": {429, `{}`, finding.Warning, "come back later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Api-Key") != "creem_test_inspected" {
					t.Error("asked without the key")
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			t.Cleanup(server.Close)
			p, err := creem.New(creem.Config{APIKey: "creem_test_inspected", WebhookSecrets: []string{"whsec_inspected_account"}, Mode: order.Test, APIURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			i := p.Inspect(t.Context(), payment.Requirements{Refs: []string{"prod_1"}})
			if len(i.Findings) != 1 || i.Findings[0].State != c.want || !strings.Contains(i.Findings[0].Says, c.says) {
				t.Errorf("%+v, want %s with %q", i.Findings, c.want, c.says)
			}
			if i.Sold != nil {
				t.Errorf("it says of the catalogue what it has not asked: %v", i.Sold)
			}
		})
	}
}

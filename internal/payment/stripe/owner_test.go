package stripe_test

import (
	"io"
	"net/http"
	"testing"
)

func TestTheKeysOwnAccountIsAskedForOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int // of the answers, one a call
		want     []string
		failed   int // calls that return an error
	}{
		"known":                {statuses: []int{200}, want: []string{"acct_1Own", "acct_1Own"}},
		"away at first":        {statuses: []int{503, 200}, want: []string{"", "acct_1Own", "acct_1Own"}, failed: 1},
		"the key may not know": {statuses: []int{403}, want: []string{"", ""}},
		"no such address":      {statuses: []int{404}, want: []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			p := api(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/account" || asked >= len(c.statuses) {
					t.Errorf("call %d: %s", asked, r.URL.Path)
					return
				}
				w.WriteHeader(c.statuses[asked])
				if c.statuses[asked] == http.StatusOK {
					_, _ = io.WriteString(w, `{"id":"acct_1Own","object":"account"}`)
				}
				asked++
			})
			failed := 0
			for i, want := range c.want {
				got, err := p.OwnAccount(t.Context())
				if err != nil {
					failed++
				}
				if got != want {
					t.Errorf("call %d: %q, want %q", i, got, want)
				}
			}
			if failed != c.failed {
				t.Errorf("%d calls failed, want %d", failed, c.failed)
			}
		})
	}
}

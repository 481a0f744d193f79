package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resend/resend-go/v2"

	"handover/internal/lab/sandbox"
)

func TestTheListOfDomainsIsWhatATestSays(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	show := func() map[string]string {
		t.Helper()
		list := made(resendClient(t, c.Base, "re_key").Domains.ListWithOptions(t.Context(), &resend.ListOptions{}))(t)
		got := map[string]string{}
		for _, d := range list.Data {
			got[d.Name] = d.Status
		}
		return got
	}
	if diff := cmp.Diff(map[string]string{"example.com": "verified"}, show()); diff != "" {
		t.Errorf("at first: %s", diff)
	}
	must(t, c.SetDomains([]sandbox.Domain{sandbox.Domain{Name: "shop.example"}, sandbox.Domain{Name: "new.example", Status: "pending"}}))
	if diff := cmp.Diff(map[string]string{"shop.example": "verified", "new.example": "pending"}, show()); diff != "" {
		t.Error(diff)
	}
	must(t, c.SetDomains([]sandbox.Domain{}))
	if got := show(); len(got) != 0 {
		t.Errorf("none are left: %v", got)
	}
}

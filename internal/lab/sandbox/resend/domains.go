package resend

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"handover/internal/lab/sandbox/core"
)

// Domain is a domain of the account at Resend.
type Domain struct {
	ID     string `json:"id"` // a made-up one when empty
	Name   string `json:"name"`
	Status string `json:"status"` // verified when empty
}

// The domain of the local stack's sender, which is there until a test says what is.
var firstDomains = []Domain{{ID: "d91cd9bd-1176-453e-8fc1-35364d380206", Name: "example.com", Status: "verified"}}

// SetDomains says what the account's list of domains holds. Emails are taken whatever it says.
func (s *Resend) SetDomains(list []Domain) error {
	filled := make([]Domain, len(list))
	for i, d := range list {
		d.ID, d.Status = cmp.Or(d.ID, uuid.NewString()), cmp.Or(d.Status, "verified")
		filled[i] = d
	}
	s.core.Lock()
	defer s.core.Unlock()
	return s.recordDomains(filled)
}

// listDomains is https://resend.com/docs/api-reference/domains/list-domains.
func (s *Resend) listDomains(w http.ResponseWriter, _ *http.Request) {
	s.core.Lock()
	list := slices.Clone(s.domains)
	s.core.Unlock()
	if list == nil {
		list = firstDomains
	}
	data := []core.Object{}
	for _, d := range list {
		data = append(data, core.Object{
			"id": d.ID, "name": d.Name, "status": d.Status, "created_at": "2025-01-01 00:00:00.000000+00", "region": "eu-west-1",
			"capabilities": core.Object{"sending": "enabled", "receiving": "disabled"},
		})
	}
	core.WriteJSON(w, http.StatusOK, core.Object{"object": "list", "has_more": false, "data": data})
}

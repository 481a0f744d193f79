package sandbox

import (
	"cmp"
	"context"
	"net/http"
	"slices"
)

// Domain is a domain of the account at Resend.
type Domain struct {
	ID     string `json:"id"` // a made-up one when empty
	Name   string `json:"name"`
	Status string `json:"status"` // verified when empty
}

// The domain of the local stack's sender, which is there until the judge says what is.
var firstDomains = []Domain{{ID: "d91cd9bd-1176-453e-8fc1-35364d380206", Name: "example.com", Status: "verified"}}

// domainRoutes adds the list of domains and what sets it.
func (s *Sandbox) domainRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /resend/domains", s.resend("resend.domains", s.listDomains))
	mux.HandleFunc("PUT /control/resend/domains", func(w http.ResponseWriter, r *http.Request) {
		var in []Domain
		err := readJSON(r, &in)
		controlSet(w, err, func() error { return s.SetDomains(in) })
	})
}

// SetDomains says what the account's list of domains holds. Emails are taken whatever it says.
func (s *Sandbox) SetDomains(list []Domain) error {
	filled := make([]Domain, len(list))
	for i, d := range list {
		d.ID, d.Status = cmp.Or(d.ID, newUUID()), cmp.Or(d.Status, "verified")
		filled[i] = d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record(entry{Domains: &filled})
}

// SetDomains says what the account's list of domains holds. Emails are taken whatever it says.
func (c Client) SetDomains(ctx context.Context, list ...Domain) error {
	if list == nil {
		list = []Domain{}
	}
	return c.do(ctx, http.MethodPut, "/control/resend/domains", list, nil)
}

// listDomains is https://resend.com/docs/api-reference/domains/list-domains.
func (s *Sandbox) listDomains(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	list := slices.Clone(s.domains)
	s.mu.Unlock()
	if list == nil {
		list = firstDomains
	}
	data := []object{}
	for _, d := range list {
		data = append(data, object{
			"id": d.ID, "name": d.Name, "status": d.Status, "created_at": "2025-01-01 00:00:00.000000+00", "region": "eu-west-1",
			"capabilities": object{"sending": "enabled", "receiving": "disabled"},
		})
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "has_more": false, "data": data})
}

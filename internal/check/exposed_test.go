package check

import (
	"strings"
	"testing"

	"handover/internal/config"
	"handover/internal/order"
)

// What travels in the open to another machine is named; what stays on this one is not.
func TestWhatTravelsInTheOpenIsNamed(t *testing.T) {
	t.Parallel()
	const other = "postgres://shop@db.example.com/handover"
	for name, c := range map[string]struct {
		shop Shop
		want string // a part of the warning; empty for none
	}{
		"a database of this machine":    {Shop{DatabaseURL: "postgres://localhost/handover?sslmode=disable"}, ""},
		"by its socket":                 {Shop{DatabaseURL: "postgres:///handover?host=/run/postgresql"}, ""},
		"in a container's network":      {Shop{DatabaseURL: "postgres://shop@postgres/handover"}, ""},
		"elsewhere, as it comes":        {Shop{DatabaseURL: other}, "sslmode=verify-full"},
		"elsewhere, without a check":    {Shop{DatabaseURL: other + "?sslmode=require"}, "sslmode=verify-full"},
		"elsewhere, checked":            {Shop{DatabaseURL: other + "?sslmode=verify-full"}, ""},
		"Temporal of this machine":      {Shop{TemporalAddress: "127.0.0.1:7233"}, ""},
		"Temporal elsewhere":            {Shop{TemporalAddress: "temporal.example.com:7233"}, "TEMPORAL_TLS"},
		"Temporal elsewhere, encrypted": {Shop{TemporalAddress: "temporal.example.com:7233", TemporalTLS: true}, ""},
		"a live key in the open":        {Shop{Config: &config.Config{Environments: map[string]config.Environment{"live": {Name: "live", Mode: order.Live, APIURL: "http://proxy.example.com"}}}}, "in the open"},
		"a live key on this machine":    {Shop{Config: &config.Config{Environments: map[string]config.Environment{"live": {Name: "live", Mode: order.Live, APIURL: "http://127.0.0.1:9"}}}}, ""},
		"test beside live": {Shop{Config: &config.Config{Environments: map[string]config.Environment{
			"live": {Name: "live", Mode: order.Live}, "test": {Name: "test", Mode: order.Test}}}}, "a test purchase gives the real files"},
		"test alone": {Shop{Config: &config.Config{Environments: map[string]config.Environment{"test": {Name: "test", Mode: order.Test}}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := c.shop.exposed()
			if c.want == "" && len(list) != 0 || c.want != "" && (len(list) != 1 || !strings.Contains(list[0].Says+list[0].Next, c.want)) {
				t.Errorf("%+v", list)
			}
			for _, found := range list {
				if found.State != "warning" {
					t.Errorf("%s is a %s", found.Name, found.State)
				}
			}
		})
	}
}

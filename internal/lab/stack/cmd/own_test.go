package main

import "testing"

// The stack pretends sales: it never reaches the servers of a shop, whatever the shell has.
func TestOnlyServersOfThisMachineAreUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		variables          map[string]string
		database, temporal string
		refused            bool
	}{
		"nothing":            {},
		"those of a shop":    {variables: map[string]string{"DATABASE_URL": "postgres://shop@db.example/handover", "TEMPORAL_ADDRESS": "temporal.example:7233"}},
		"on this machine":    {variables: map[string]string{ownDatabase: "postgres://localhost/x", ownTemporal: "127.0.0.1:7233"}, database: "postgres://localhost/x", temporal: "127.0.0.1:7233"},
		"by a socket":        {variables: map[string]string{ownDatabase: "postgres:///x?host=/run/postgresql"}, database: "postgres:///x?host=/run/postgresql"},
		"by IPv6":            {variables: map[string]string{ownTemporal: "[::1]:7233"}, temporal: "[::1]:7233"},
		"another machine":    {variables: map[string]string{ownDatabase: "postgres://db.example/x"}, refused: true},
		"one of two":         {variables: map[string]string{ownDatabase: "postgres://localhost,db.example/x"}, refused: true},
		"no URL":             {variables: map[string]string{ownDatabase: "postgres://user:hunter2@[/"}, refused: true},
		"Temporal elsewhere": {variables: map[string]string{ownTemporal: "10.0.0.5:7233"}, refused: true},
		"no port":            {variables: map[string]string{ownTemporal: "localhost"}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database, temporal, err := ownServers(func(name string) string { return c.variables[name] })
			if database != c.database || temporal != c.temporal || (err != nil) != c.refused {
				t.Errorf("%q, %q, %v", database, temporal, err)
			}
		})
	}
}

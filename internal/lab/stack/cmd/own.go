package main

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The variables that name servers of one's own, which the stack uses instead of starting some. Those of the product are
// not read: the shell of somebody who runs a shop has them, and the stack would deliver pretended sales there.
const (
	ownDatabase = "HANDOVER_DEV_DATABASE_URL"
	ownTemporal = "HANDOVER_DEV_TEMPORAL_ADDRESS"
)

// ownServers reads which servers are to be used instead of started ones. They have to be on this machine.
func ownServers(getenv func(string) string) (database, temporal string, err error) {
	database, temporal = getenv(ownDatabase), getenv(ownTemporal)
	if database != "" {
		parsed, err := pgconn.ParseConfig(database)
		if err != nil {
			return "", "", fmt.Errorf("%s is no Postgres URL", ownDatabase) // the driver's text can quote the password
		}
		hosts := []string{parsed.Host}
		for _, f := range parsed.Fallbacks {
			hosts = append(hosts, f.Host)
		}
		for _, host := range hosts {
			if !onThisMachine(host) {
				return "", "", fmt.Errorf("%s names another machine: the local stack uses servers of this one only", ownDatabase)
			}
		}
	}
	if host, _, err := net.SplitHostPort(temporal); temporal != "" && (err != nil || !onThisMachine(host)) {
		return "", "", fmt.Errorf("%s names another machine, or no HOST:PORT: the local stack uses servers of this one only", ownTemporal)
	}
	return database, temporal, nil
}

func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || err == nil && ip.IsLoopback()
}

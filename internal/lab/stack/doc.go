// Package stack starts what Handover runs on during development: a private Postgres cluster, a real Temporal development
// server and any number of our own processes. Everything it starts listens on the loopback address only, writes to one
// log file each, dies with its supervisor, and is found and stopped by the next start where it did not.
package stack

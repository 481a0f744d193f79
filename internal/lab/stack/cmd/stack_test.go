package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/stack"
)

func newTestStack(t *testing.T, say io.Writer) *running {
	t.Helper()
	state, err := stack.OpenState(t.TempDir(), "stack")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	return &running{root: state.Dir, say: say, state: state, temporal: &stack.Temporal{}}
}

// program makes a shell script that prints the word.
func program(t *testing.T, path, word string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+word+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestVariablesLeaveNothingOfTheReadersOwnTemporalSettings(t *testing.T) {
	t.Parallel()
	s := newTestStack(t, io.Discard)
	s.binary = filepath.Join(t.TempDir(), "temporal-1.2.3")
	program(t, s.binary, "ours")
	a := &apps{starterAdmin: "http://127.0.0.1:1", starter: "http://127.0.0.1:2"}
	if err := s.writeVariables(a, []string{"DATABASE_URL=it's one"}); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-euc", `. "$0"; env | grep -e ^TEMPORAL_ -e ^DATABASE_URL | sort; temporal`, a.variables)
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TEMPORAL_CLI=/kept", "TEMPORAL_ADDRESS=cloud.example.com:7233",
		"TEMPORAL_CONFIG_FILE=/home/kim/temporal.toml", "TEMPORAL_PROFILE=live", "TEMPORAL_NAMESPACE=live.a1b2c",
		"TEMPORAL_API_KEY=k", "TEMPORAL_TLS=true", "TEMPORAL_TLS_SERVER_NAME=n", "TEMPORAL_CODEC_ENDPOINT=e",
		"TEMPORAL_GRPC_META_A=b",
	}
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := []string{
		"DATABASE_URL=it's one", "TEMPORAL_ADDRESS=" + s.temporal.Address(), "TEMPORAL_CLI=/kept",
		"TEMPORAL_CONFIG_FILE=" + s.state.Path("temporal.toml"), "ours", "",
	}
	if diff := cmp.Diff(want, strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("the shell has (-want +got):\n%s", diff)
	}
}

func TestVariablesAreAcceptedWhereNoTemporalSettingIsSet(t *testing.T) {
	t.Parallel()
	s := newTestStack(t, io.Discard)
	s.binary = filepath.Join(t.TempDir(), "temporal")
	program(t, s.binary, "ours")
	a := &apps{}
	if err := s.writeVariables(a, nil); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-euc", `. "$0"; echo "$TEMPORAL_ADDRESS"`, a.variables)
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	text, err := command.CombinedOutput()
	if err != nil || strings.TrimSpace(string(text)) != s.temporal.Address() {
		t.Errorf("got %q, %v, want the stack's address", text, err)
	}
}

// After `. env` the stack's own link is the temporal on the PATH that the next start finds.
func TestTemporalLinkNeverPointsToItself(t *testing.T) {
	t.Parallel()
	s := newTestStack(t, io.Discard)
	first := filepath.Join(t.TempDir(), "temporal-1.2.3")
	program(t, first, "ours")
	for _, s.binary = range []string{first, s.program("temporal")} {
		if err := s.linkTemporal(); err != nil {
			t.Fatal(err)
		}
		text, err := exec.Command(s.program("temporal")).Output()
		if err != nil || string(text) != "ours\n" {
			t.Fatalf("linked to %s it prints %q, %v", s.binary, text, err)
		}
	}
}

func TestTakenPortIsSaidInOneLine(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	preferred := taken.Addr().(*net.TCPAddr).Port
	var said bytes.Buffer
	s := newTestStack(t, &said)
	port, err := s.port("starter", preferred)
	if err != nil {
		t.Fatal(err)
	}
	if port == preferred || strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "was taken") {
		t.Errorf("port %d for the taken %d, said %q", port, preferred, said.String())
	}
	said.Reset()
	if preferred, err = stack.FreePort(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.port("worker", preferred); err != nil || said.Len() > 0 {
		t.Errorf("said %q, %v, although the usual port is free", said.String(), err)
	}
}

func TestOnlyAStackThatStaysPrintsItsAddresses(t *testing.T) {
	t.Parallel()
	s := newTestStack(t, io.Discard)
	a := &apps{starter: "http://127.0.0.1:2", sandbox: "http://127.0.0.1:3", variables: s.state.Path("env")}
	p := &purchase{Session: "cs_test_1", seen: []sighting{{what: "payment confirmed"}}}
	var story, addresses bytes.Buffer
	printStory(&story, forSale[0], p, 1)
	if strings.Contains(story.String(), "http") || strings.Contains(story.String(), "starter list") {
		t.Errorf("the story of an order has addresses:\n%s", &story)
	}
	s.printAddresses(&addresses, a, p)
	for _, want := range []string{a.starter + "/orders/test/cs_test_1", "order:test:cs_test_1", a.sandbox + "/inbox", ". env && starter list"} {
		if !strings.Contains(addresses.String(), want) {
			t.Errorf("no %s among the addresses:\n%s", want, &addresses)
		}
	}
}

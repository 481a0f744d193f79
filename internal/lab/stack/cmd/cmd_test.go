package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/app"
	"handover/internal/config"
)

func TestShopConfigurationIsAccepted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a path with spaces")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := openShop(dir, "http://127.0.0.1:8080", "http://127.0.0.1:8090")
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) (string, bool) {
		for _, v := range s.variables() {
			if value, found := strings.CutPrefix(v, name+"="); found {
				return value, true
			}
		}
		return "", false
	}
	c, err := config.Load(s.config, getenv, app.Known())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Products {
		for _, given := range p.Access {
			if given.File == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, "files", given.File)); err != nil {
				t.Errorf("%s: the file on sale is missing: %v", p.ID, err)
			}
		}
	}
	if got := c.Environments["test"].APIURL; got != "http://127.0.0.1:8090" {
		t.Errorf("the payment API is %q, want the sandbox's", got)
	}
}

func TestSecretsStayTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := openShop(dir, "http://127.0.0.1:1", "http://127.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	second, err := openShop(dir, "http://127.0.0.1:1", "http://127.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.secrets, second.secrets); diff != "" {
		t.Errorf("a restart changed the secrets (-before +after):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(dir, "secrets.json"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the secrets have mode %v, want 0600", info.Mode().Perm())
	}
}

func TestPDFTableFindsItsObjects(t *testing.T) {
	t.Parallel()
	text := pdf([]string{"Vögel (im Garten)", "", "日本"})
	entries := regexp.MustCompile(`(?m)^(\d{10}) 00000 n $`).FindAllSubmatch(text, -1)
	if len(entries) != 5 {
		t.Fatalf("the table has %d objects, want 5", len(entries))
	}
	for i, entry := range entries {
		offset, _ := strconv.Atoi(string(entry[1]))
		if want := fmt.Sprintf("%d 0 obj\n", i+1); !bytes.HasPrefix(text[offset:], []byte(want)) {
			t.Errorf("offset %d holds %.10q, want %q", offset, text[offset:], want)
		}
	}
	start := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(text)
	if start == nil {
		t.Fatal("no startxref at the end")
	}
	if offset, _ := strconv.Atoi(string(start[1])); !bytes.HasPrefix(text[offset:], []byte("xref\n")) {
		t.Errorf("startxref points to %.10q", text[offset:])
	}
	if !bytes.Contains(text, []byte("V\xf6gel \\(im Garten\\)")) {
		t.Error("the title is not encoded as the font needs it")
	}
}

func TestTogetherEndsTheOthersAndReturnsTheFirstFailure(t *testing.T) {
	t.Parallel()
	first := errors.New("first")
	err := together(t.Context(),
		func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		func(context.Context) error { return first },
	)
	if !errors.Is(err, first) {
		t.Errorf("got %v, want %v", err, first)
	}
	if err := together(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("got %v, want none", err)
	}
}

func TestUnfinishedPurchaseIsRemembered(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "purchase.json")
	if got := loadUnfinished(file); got != nil {
		t.Fatalf("got %v before there was one", got)
	}
	p := &purchase{Session: "cs_test_1"}
	if err := p.save(file); err != nil {
		t.Fatal(err)
	}
	if got := loadUnfinished(file); got == nil || got.Session != p.Session {
		t.Fatalf("got %v, want the purchase that was under way", got)
	}
	p.Finished = true
	if err := p.save(file); err != nil {
		t.Fatal(err)
	}
	if got := loadUnfinished(file); got != nil {
		t.Errorf("got %v although it was finished", got)
	}
}

func TestTestArgumentsMeanEverythingUnlessTheyNameAPackage(t *testing.T) {
	t.Parallel()
	tests := []struct{ arguments, want []string }{
		{nil, []string{"./..."}},
		{[]string{"-run", "TestX"}, []string{"./...", "-run", "TestX"}},
		{[]string{"-run", "TestX", "./internal/web"}, []string{"-run", "TestX", "./internal/web"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, withPackage(test.arguments)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.arguments, diff)
		}
	}
}

func TestQuotedIsOneShellWord(t *testing.T) {
	t.Parallel()
	if got, want := quoted("it's $HOME"), `'it'\''s $HOME'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

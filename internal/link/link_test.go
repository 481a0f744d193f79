package link_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handover/internal/link"
	"handover/internal/order"
)

var (
	key     = order.Key{Environment: "test", Session: "cs_test_1"}
	secrets = []string{"the newest secret, 32 bytes long.", "an older secret, 32 bytes long..."}
)

func signer(t *testing.T, secrets ...string) *link.Signer {
	t.Helper()
	s, err := link.New("https://downloads.example.com/", secrets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func token(t *testing.T, s *link.Signer, secret string, k order.Key, version int) string {
	t.Helper()
	made, err := s.Token(secret, k, version)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestTokenNeverChanges: a message that was frozen before an update must still open its order after it.
func TestTokenNeverChanges(t *testing.T) {
	t.Parallel()
	s := signer(t, secrets...)
	const want = "ogIupnh50m0nPAqtpoNqicauqmBbIA5KLnBpoIf6ktM"
	if got := token(t, s, s.Newest(), key, 1); got != want {
		t.Errorf("the token is %s, want %s", got, want)
	}
	if got, want := link.URL(s.Base(), want), "https://downloads.example.com/d/"+want; got != want {
		t.Errorf("the link is %s, want %s", got, want)
	}
}

func TestTokenIsTheOrdersAlone(t *testing.T) {
	t.Parallel()
	s := signer(t, secrets...)
	shape := regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	seen := map[string]string{}
	for _, environment := range []string{"test", "live", "test-1"} {
		for _, session := range []string{"cs_test_1", "cs_test_2", "1", "11"} {
			for _, version := range []int{1, 2, 11} {
				made := token(t, s, s.Newest(), order.Key{Environment: environment, Session: session}, version)
				if !shape.MatchString(made) {
					t.Errorf("%q is not 43 characters of base64url", made)
				}
				name := environment + "/" + session
				if other, taken := seen[made]; taken {
					t.Errorf("%s and %s have the same link", other, name)
				}
				seen[made] = name
			}
		}
	}
}

func TestLinksOfAllSecretsStayValid(t *testing.T) {
	t.Parallel()
	before := signer(t, secrets[1])
	old := token(t, before, before.Newest(), key, 1)
	after := signer(t, secrets...)
	if after.Newest() == before.Newest() {
		t.Fatal("two secrets have one name")
	}
	if again := token(t, after, before.Newest(), key, 1); again != old {
		t.Error("a message that was frozen with the older secret gets another link")
	}
	if fresh := token(t, after, after.Newest(), key, 1); fresh == old {
		t.Error("a new message is made with the older secret")
	}
}

func TestSecretThatLeftTheListIsNamedWithoutTellingIt(t *testing.T) {
	t.Parallel()
	before := signer(t, secrets[1])
	_, err := signer(t, secrets[0]).Token(before.Newest(), key, 1)
	if err == nil || !strings.Contains(err.Error(), before.Newest()) || !strings.Contains(err.Error(), "link_secrets") {
		t.Fatalf("got %v", err)
	}
	for _, secret := range secrets {
		if strings.Contains(err.Error(), secret) || strings.Contains(before.Newest(), secret) {
			t.Errorf("a secret is repeated: %v", err)
		}
	}
}

func TestNoSecretsAreAnError(t *testing.T) {
	t.Parallel()
	if _, err := link.New("https://downloads.example.com", nil); !errors.Is(err, link.ErrNoSecrets) {
		t.Errorf("got %v, want ErrNoSecrets", err)
	}
}

func TestHashTellsTokensApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if (link.Hash(a) == link.Hash(b)) != (a == b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

package license_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/access"
	"handover/internal/access/license"
	"handover/internal/order"
)

var keyShape = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$`)

func due(units int64) order.Entitlement {
	return order.Entitlement{Product: "guide", Kind: license.Kind, Units: units}
}

func TestEveryUnitHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	const units = 1000
	made, err := license.New(rand.Reader).Issue(due(units))
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != units {
		t.Fatalf("%d keys; want %d", len(made), units)
	}
	seen := map[string]bool{}
	letters := map[rune]bool{}
	for i, m := range made {
		if m.Unit != int64(i)+1 {
			t.Errorf("key %d has unit %d", i, m.Unit)
		}
		if !keyShape.MatchString(m.Secret) {
			t.Errorf("key %q has another shape", m.Secret)
		}
		if seen[m.Secret] {
			t.Errorf("key %q was given twice", m.Secret)
		}
		seen[m.Secret] = true
		for _, letter := range m.Secret {
			letters[letter] = true
		}
	}
	if len(letters) != 32+1 {
		t.Errorf("the keys use %d letters; want all 32 and the dash", len(letters))
	}
}

func TestKeysComeFromTheGivenRandomness(t *testing.T) {
	t.Parallel()
	random := make([]byte, 50)
	for i := range random {
		random[i] = byte(i)
	}
	made, err := license.New(bytes.NewReader(random)).Issue(due(2))
	if err != nil {
		t.Fatal(err)
	}
	want := []access.Issued{
		{Unit: 1, Secret: "01234-56789-ABCDE-FGHJK-MNPQR"},
		{Unit: 2, Secret: "STVWX-YZ012-34567-89ABC-DEFGH"},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
}

func TestRandomnessThatRunsDryMakesNoKey(t *testing.T) {
	t.Parallel()
	made, err := license.New(bytes.NewReader(make([]byte, 49))).Issue(due(2))
	if !errors.Is(err, io.ErrUnexpectedEOF) || made != nil {
		t.Errorf("got %v, %v; want no keys and an error", made, err)
	}
}

func TestUnitsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for _, units := range []int64{-1, 0, license.MaxUnits + 1} {
		if _, err := license.New(rand.Reader).Issue(due(units)); !errors.Is(err, license.ErrUnits) {
			t.Errorf("%d units: %v; want ErrUnits", units, err)
		}
	}
}

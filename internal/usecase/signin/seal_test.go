package signin

import (
	"bytes"
	"reflect"
	"testing"
	"time"
)

func TestOnlyItsSecretOpensASession(t *testing.T) {
	mine, another := newSecret(), newSecret()
	want := record{User: User{ID: "100000000000000001", Name: "Ada"}, Token: Token{AccessToken: "the-access-token"}, Started: time.Unix(1, 0).UTC()}
	sealed, err := mine.seal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mine.open(sealed); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the session opens as %+v (%v), want %+v", got, err, want)
	}
	if _, err := another.open(sealed); err == nil {
		t.Error("another secret opens the session")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := mine.open(changed); err == nil {
			t.Errorf("the session opens with byte %d changed", i)
		}
	}
	if hash := mine.hash(); bytes.Contains(sealed, []byte("the-access-token")) || bytes.Equal(hash[:], mine[:]) {
		t.Error("the sealed session contains the token, or its key is the secret itself")
	}
}

func TestASecretIsReadInOneFormOnly(t *testing.T) {
	mine := newSecret()
	if got, ok := parseSecret(mine.String()); !ok || got != mine {
		t.Error("a secret is not read as written")
	}
	for _, text := range []string{"", "A", mine.String() + "=", mine.String() + "A", mine.String()[:42], mine.String()[:42] + "~", " " + mine.String(), mine.String() + "\n"} {
		if _, ok := parseSecret(text); ok {
			t.Errorf("%q is read as a secret", text)
		}
	}
}

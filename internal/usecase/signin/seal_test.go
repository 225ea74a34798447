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
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := another.open(sealed); err == nil {
		t.Error("another secret opens it")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := mine.open(changed); err == nil {
			t.Errorf("it opens with byte %d changed", i)
		}
	}
	if hash := mine.hash(); bytes.Contains(sealed, []byte("the-access-token")) || bytes.Equal(hash[:], mine[:]) {
		t.Error("the store sees what it should not")
	}
}

func TestASecretHasOneSpelling(t *testing.T) {
	mine := newSecret()
	if got, ok := parseSecret(mine.String()); !ok || got != mine {
		t.Error("it does not read what it wrote")
	}
	for _, text := range []string{"", "A", mine.String() + "=", mine.String() + "A", mine.String()[:42], mine.String()[:42] + "~", " " + mine.String(), mine.String() + "\n"} {
		if _, ok := parseSecret(text); ok {
			t.Errorf("%q is read", text)
		}
	}
}

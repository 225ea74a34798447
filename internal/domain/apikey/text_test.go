package apikey_test

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"levelboard/internal/domain/apikey"
)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func mint(tb testing.TB) (secret, keyID string, hash [32]byte) {
	tb.Helper()
	keyID = apikey.NewID()
	secret, hash = apikey.Mint(keyID)
	return secret, keyID, hash
}

func TestMintedKeysParseAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	var used [256]int
	for range 500 {
		secret, keyID, hash := mint(t)
		if len(secret) != 3+12+32+6 || !strings.HasPrefix(secret, "lb_"+keyID) || len(keyID) != 12 {
			t.Fatal("a key is not lb_ + 12 + 32 + 6 characters, its id first")
		}
		if strings.Trim(secret[3:], alphabet) != "" {
			t.Fatal("a key has characters that are not letters or digits")
		}
		if hash != sha256.Sum256([]byte(secret)) {
			t.Fatal("the hash is not the SHA-256 of the text")
		}
		if parsed, err := apikey.Parse(secret); err != nil || parsed != keyID {
			t.Fatalf("a fresh key parses to %q, %v; its id is %q", parsed, err, keyID)
		}
		if seen[keyID] || seen[secret[15:47]] {
			t.Fatal("two keys have the same id or secret")
		}
		seen[keyID], seen[secret[15:47]] = true, true
		for i := 3; i < 47; i++ {
			used[secret[i]]++
		}
	}
	// Of 22000 digits about 355 of each are expected, with a deviation of 19. Without the rejection eight digits would have 430.
	for _, c := range []byte(alphabet) {
		if used[c] < 255 || used[c] > 455 {
			t.Errorf("the digit %c came %d times of 22000, want about 355", c, used[c])
		}
	}
}

func TestParseRefusesEveryChangedCharacter(t *testing.T) {
	secret, _, _ := mint(t)
	for i := range len(secret) {
		for _, c := range []byte(alphabet + "_-+/ \x00\n\xff") {
			if c == secret[i] {
				continue
			}
			changed := secret[:i] + string([]byte{c}) + secret[i+1:]
			if _, err := apikey.Parse(changed); !errors.Is(err, apikey.ErrMalformed) {
				t.Fatalf("with character %d changed to %q Parse returns %v, want ErrMalformed", i, c, err)
			}
		}
	}
	for i := 1; i < len(secret); i++ {
		if secret[i] == secret[i-1] {
			continue
		}
		swapped := secret[:i-1] + secret[i:i+1] + secret[i-1:i] + secret[i+1:]
		if _, err := apikey.Parse(swapped); err == nil {
			t.Fatalf("Parse accepts the key with characters %d and %d swapped", i-1, i)
		}
	}
}

func TestParseRefusesOtherTexts(t *testing.T) {
	secret, _, _ := mint(t)
	for name, text := range map[string]string{
		"nothing":           "",
		"the prefix alone":  "lb_",
		"a space before":    " " + secret,
		"a newline after":   secret + "\n",
		"one letter less":   secret[:len(secret)-1],
		"one letter more":   secret + "a",
		"another prefix":    "gh_" + secret[3:],
		"an upper prefix":   "LB_" + secret[3:],
		"a bearer token":    "Bearer " + secret,
		"not UTF-8":         strings.Repeat("\xff", len(secret)),
		"digits beyond one": secret[:20] + "é" + secret[22:],
	} {
		if keyID, err := apikey.Parse(text); !errors.Is(err, apikey.ErrMalformed) || keyID != "" {
			t.Errorf("Parse of %s returns %q (%v), want ErrMalformed", name, keyID, err)
		}
	}
}

func TestIDInFindsTheID(t *testing.T) {
	secret, keyID, _ := mint(t)
	for name, text := range map[string]string{"the id": keyID, "the name plate": secret[:15], "as pages show it": secret[:15] + "…", "the whole text": secret} {
		if got, err := apikey.IDIn(text); err != nil || got != keyID {
			t.Errorf("IDIn of %s returns %q (%v), want %q", name, got, err, keyID)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "the prefix": "lb_", "too little": secret[:14], "a part of the secret too": secret[:20], "the text but a letter": secret[:52],
		"one letter more": secret + "a", "without the prefix": secret[3:], "another prefix": "gh_" + secret[3:], "a path": "lb_../../guilds",
	} {
		if got, err := apikey.IDIn(text); !errors.Is(err, apikey.ErrMalformed) || got != "" {
			t.Errorf("IDIn of %s returns %q (%v), want ErrMalformed", name, got, err)
		}
	}
}

// Scanners and keys already handed out rely on the form of a key's text. zlib computed these checksums.
func TestTheFormOfAKeyDoesNotChange(t *testing.T) {
	for _, text := range []string{
		"lb_000000000000" + "00000000000000000000000000000000" + "2pYetp",
		"lb_Abc123xyzZ09" + "abcdefghijklmnopqrstuvwxyzABCDEF" + "1biDIx",
	} {
		if keyID, err := apikey.Parse(text); err != nil || keyID != text[3:15] {
			t.Errorf("Parse of %s returns %q (%v), want %q", text, keyID, err, text[3:15])
		}
	}
}

func FuzzParse(f *testing.F) {
	secret, _, _ := mint(f)
	f.Add(secret, 10, byte('x'))
	f.Add("lb_", 0, byte(0))
	f.Add(strings.Repeat("é", 27), 3, byte('0'))
	f.Add("lb_000000000000000000000000000000000000000000000000000", 52, byte('1'))
	f.Fuzz(func(t *testing.T, text string, at int, c byte) {
		keyID, err := apikey.Parse(text)
		if err != nil {
			if !errors.Is(err, apikey.ErrMalformed) || keyID != "" {
				t.Fatalf("Parse of %q returns %q (%v), want ErrMalformed", text, keyID, err)
			}
			return
		}
		if len(text) != 53 || text[:15] != "lb_"+keyID {
			t.Fatalf("Parse accepts a text of %d bytes with the id %q", len(text), keyID)
		}
		if at < 0 || at >= len(text) || text[at] == c {
			return
		}
		if _, err := apikey.Parse(text[:at] + string([]byte{c}) + text[at+1:]); err == nil {
			t.Fatalf("Parse accepts the key with byte %d changed to %q", at, c)
		}
	})
}

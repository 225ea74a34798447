package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sealPurpose is the purpose from which the sealing key is derived. Raise its
// number when the record changes its meaning; older sessions then cannot be opened.
const sealPurpose = "levelboard session 2"

// secret is a session's secret, 256 random bits. Only the browser keeps it.
type secret [32]byte

func newSecret() secret {
	var s secret
	_, _ = rand.Read(s[:]) // never fails (crypto/rand)
	return s
}

func (s secret) String() string { return base64.RawURLEncoding.EncodeToString(s[:]) }

// parseSecret reads the output of String, and rejects any other spelling.
func parseSecret(text string) (s secret, ok bool) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(decoded) != len(s) {
		return s, false
	}
	copy(s[:], decoded)
	return s, s.String() == text
}

func (s secret) hash() Hash { return sha256.Sum256(s[:]) }

// record is the content of a session before it is sealed.
type record struct {
	User      User      `json:"user"`
	Guilds    []Guild   `json:"guilds,omitzero"`
	Token     Token     `json:"token"`
	Local     bool      `json:"local,omitzero"` // signed in without a provider
	Started   time.Time `json:"started"`
	Seen      time.Time `json:"seen"`      // the last use, updated every seenTime
	Confirmed time.Time `json:"confirmed"` // when the provider last confirmed user and guilds
	Tried     time.Time `json:"tried"`     // when it was last asked
}

func (s secret) cipher() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, s[:], nil, sealPurpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (s secret) seal(r record) ([]byte, error) {
	encoded, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("write a session: %w", err)
	}
	aead, err := s.cipher()
	if err != nil {
		return nil, fmt.Errorf("seal a session: %w", err)
	}
	hash := s.hash()
	return aead.Seal(nil, nil, encoded, hash[:]), nil
}

// open fails unless seal made the data with this secret.
func (s secret) open(sealed []byte) (r record, err error) {
	aead, err := s.cipher()
	if err == nil {
		hash := s.hash()
		sealed, err = aead.Open(nil, nil, sealed, hash[:])
	}
	if err == nil {
		err = json.Unmarshal(sealed, &r)
	}
	if err != nil {
		return record{}, fmt.Errorf("open a session: %w", err)
	}
	return r, nil
}

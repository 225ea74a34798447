package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// A key's text is `lb_`, the id, the secret, and the CRC-32 of all that before it. These three are in base
// 62. By prefix and checksum a scanner can tell a leaked key from noise, and Parse can reject a typo.
const (
	prefix      = "lb_"
	idLen       = 12
	secretLen   = 32 // 190 bits
	checksumLen = 6  // 62^6 > 2^32
	bodyLen     = len(prefix) + idLen + secretLen
	textLen     = bodyLen + checksumLen

	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewID makes an id for a key.
func NewID() string { return randomDigits(idLen) }

// Mint makes a text for the key with this id, and the hash to store. Show the text once and keep no copy.
func Mint(id string) (secret string, hash [32]byte) {
	body := prefix + id + randomDigits(secretLen)
	secret = body + checksum(body)
	return secret, sha256.Sum256([]byte(secret))
}

// Shown returns the beginning of the text of the key with this id. It tells keys apart and is no secret.
func Shown(id string) string { return prefix + id }

// Parse returns the id in a key's text, or errMalformed. It does not check that the key exists.
func Parse(text string) (id string, err error) {
	if len(text) != textLen || text[:len(prefix)] != prefix || !allDigits(text[len(prefix):]) || text[bodyLen:] != checksum(text[:bodyLen]) {
		return "", errMalformed
	}
	return text[len(prefix) : len(prefix)+idLen], nil
}

// IDIn returns the id in what people copy: the id, the beginning of the key (Shown) with or without the dots that
// pages put behind it, or the whole text. Anything else is errMalformed and may still be a secret: do not pass it on.
func IDIn(text string) (id string, err error) {
	id, shown := strings.CutPrefix(strings.TrimSuffix(text, "…"), prefix)
	if shown && len(text) == textLen {
		id = id[:idLen]
	}
	if !ValidID(id) {
		return "", errMalformed
	}
	return id, nil
}

// ValidID reports whether text can be the id of a key.
func ValidID(text string) bool { return len(text) == idLen && allDigits(text) }

func allDigits(text string) bool { return strings.Trim(text, digits) == "" }

func checksum(body string) string {
	var sum [checksumLen]byte
	n := crc32.ChecksumIEEE([]byte(body))
	for i := checksumLen - 1; i >= 0; i-- {
		sum[i] = digits[n%62]
		n /= 62
	}
	return string(sum[:])
}

// randomDigits returns n digits, all equally likely.
func randomDigits(n int) string {
	text := make([]byte, n)
	for i := range text {
		digit, _ := rand.Int(rand.Reader, big.NewInt(int64(len(digits)))) // never fails (crypto/rand)
		text[i] = digits[digit.Int64()]
	}
	return string(text)
}

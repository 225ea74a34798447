package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// A key's text is `lb_`, the id, the secret, and the CRC-32 of all that before it, each in base 62. The prefix and the
// checksum let a scanner tell a leaked key from noise, and let Parse refuse a typo.
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
func NewID() string { return string(randomDigits(idLen)) }

// Mint makes a text for the key with this id, which must be shown once and then be forgotten, and the hash to keep.
func Mint(id string) (secret string, hash [32]byte) {
	text := append(append([]byte(prefix), id...), randomDigits(secretLen)...)
	sum := checksum(text)
	text = append(text, sum[:]...)
	return string(text), sha256.Sum256(text)
}

// Shown is the beginning of the text of the key with this id: it tells keys apart and is no secret.
func Shown(id string) string { return prefix + id }

// Parse returns the id in a key's text, or errMalformed. It checks the text, not that the key exists.
func Parse(text string) (id string, err error) {
	if len(text) != textLen || text[:len(prefix)] != prefix {
		return "", errMalformed
	}
	for i := len(prefix); i < textLen; i++ {
		if !isDigit(text[i]) {
			return "", errMalformed
		}
	}
	if sum := checksum(text[:bodyLen]); text[bodyLen:] != string(sum[:]) {
		return "", errMalformed
	}
	return text[len(prefix) : len(prefix)+idLen], nil
}

// IDIn returns the id in what people copy of a key: the id, the key's name plate (Shown) with or without the dots that pages put behind it, or the
// whole text. Anything else is errMalformed and may still be a secret: do not pass it on.
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
func ValidID(text string) bool {
	if len(text) != idLen {
		return false
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// checksum goes through the table itself because crc32.ChecksumIEEE moves its argument to the heap, and strangers can make
// the service check any number of texts.
func checksum[T string | []byte](body T) (sum [checksumLen]byte) {
	n := ^uint32(0)
	for i := range len(body) {
		n = crc32.IEEETable[byte(n)^body[i]] ^ n>>8
	}
	n = ^n
	for i := checksumLen - 1; i >= 0; i-- {
		sum[i] = digits[n%62]
		n /= 62
	}
	return sum
}

// randomDigits returns n digits, all equally likely: it skips bytes from 248 (4 times 62) on.
func randomDigits(n int) []byte {
	out := make([]byte, 0, n)
	for len(out) < n {
		var pool [64]byte
		_, _ = rand.Read(pool[:]) // it never fails
		for _, b := range pool {
			if b < 248 && len(out) < n {
				out = append(out, digits[b%62])
			}
		}
	}
	return out
}

package redisconn

import (
	"strings"

	"github.com/redis/go-redis/v9"
)

// slots is how many slots a cluster divides its keys into.
const slots = 1 << 14

// slotOf is the slot of a key: of its hash tag, if it has one.
func slotOf(key string) int {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if tag := key[open+1:]; strings.IndexByte(tag, '}') > 0 {
			key = tag[:strings.IndexByte(tag, '}')]
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return int(crc) % slots
}

// crcTable is for CRC-16/XMODEM, which a cluster's slots are by.
var crcTable = func() (table [256]uint16) {
	const polynomial = 0x1021
	for i := range table {
		crc := uint16(i) << 8 // #nosec G115 -- i is below 256
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ polynomial
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()

// keyOf is the first key of a command; without one, a command does not say where it belongs.
func keyOf(cmd redis.Cmder) (string, bool) {
	at := 1
	switch cmd.Name() {
	case "eval", "evalsha":
		at = 3
	}
	args := cmd.Args()
	if at >= len(args) {
		return "", false
	}
	key, ok := args[at].(string)
	return key, ok
}

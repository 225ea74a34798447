package loadgen

import "bytes"

// outcome is what the answer to a call of messages says. It is looked for in the text, because the load shares the
// processors with the service, and decoding an answer costs more than making it.
type outcome struct {
	gained                 []int64 // by message
	sum, gaining, levelUps int64
}

const userKey = `"userId":"`

// read reports false when the answer is not one result for each message, in their order. The same for a part of it.
func (o *outcome) read(body []byte, authors []int, members int) bool {
	*o = outcome{gained: o.gained[:0]}
	for _, author := range authors {
		var got string
		var gained int64
		var leveled []byte
		var ok bool
		if body, ok = after(body, userKey); !ok {
			return false
		}
		got, body = digits(body)
		if memberOf(got, members) != author {
			return false
		}
		if body, ok = after(body, `"gained":`); !ok {
			return false
		}
		if gained, ok = number(body); !ok {
			return false
		}
		if leveled, ok = after(body, `"leveledUp":`); !ok || len(leveled) == 0 {
			return false
		}
		body = leveled
		o.gained = append(o.gained, gained)
		o.sum += gained
		if gained > 0 {
			o.gaining++
		}
		if leveled[0] == 't' {
			o.levelUps++
		}
	}
	return !bytes.Contains(body, []byte(userKey))
}

// appendAuthors appends the authors of a call's messages.
func appendAuthors(to []int, body []byte, members int) []int {
	for {
		var ok bool
		if body, ok = after(body, userKey); !ok {
			return to
		}
		var user string
		user, body = digits(body)
		to = append(to, memberOf(user, members))
	}
}

// after is what follows the first mark in b.
func after(b []byte, mark string) ([]byte, bool) {
	at := bytes.Index(b, []byte(mark))
	if at < 0 {
		return b, false
	}
	return b[at+len(mark):], true
}

// digits splits b after its leading digits.
func digits(b []byte) (string, []byte) {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return string(b[:n]), b[n:]
}

// number is the whole number, of at most ten digits, that b begins with.
func number(b []byte) (n int64, ok bool) {
	for i := 0; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if i == 10 {
			return 0, false
		}
		n, ok = 10*n+int64(b[i]-'0'), true
	}
	return n, ok
}

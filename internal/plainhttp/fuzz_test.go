package plainhttp_test

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzTheSameAnswers is for what nobody thought of: a request that the two read differently, or an answer that is taken for another's.
func FuzzTheSameAnswers(f *testing.F) {
	for _, c := range conversations {
		f.Add(strings.Join(c.packets, ""), uint16(len(c.packets[0])))
	}
	for name := range handlers {
		f.Add(fmt.Sprintf("POST /%s HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbodyGET /%s HTTP/1.1\r\nHost: h\r\n\r\n", name, name), uint16(0))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		text = text[:min(len(text), 30_000)] // from 32 KB on it depends on who has read what before whether a head is too long
		packets := []string{text}
		if n := int(cut); n > 0 && n < len(text) {
			packets = []string{text[:n], text[n:]}
		}
		compare(t, packets)
	})
}

// pieces are what requests are made of, in the order in which a request has them. An empty one ends a packet.
var pieces = []string{
	"GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "/echo", "/unread", "/partly", "/closed", "/short", "/late", "/close", "/204", "/panic", "/large", "*", "http://h/",
	"?a=b", "%41", "%zz", " HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/1.1\n", "Host: h\r\n", "Host:\r\n", "Host: i\r\n",
	"Content-Length: ", "Content-Length : ", "Content-Length:", "content-length: ", "0", "4", "04", "+4", ",4", "57", "4000", "\r\n", "\n", "\r", " ", "\t", "\x00", ":",
	"Transfer-Encoding: chunked\r\n", "Transfer-Encoding:\r\n", "Transfer-Encoding: identity\r\n", "Expect: 100-continue\r\n", "Expect: x\r\n",
	"Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: Content-Length\r\n", "Upgrade: h2c\r\n", "Trailer: A\r\n", "A: b\r\n", "A_B: c\r\n", "A: ä\r\n",
	"\r\n\r\n", "body", "4\r\nbody\r\n", "0\r\n", "0\r\n\r\n", "GET /echo HTTP/1.1\r\nHost: h\r\n", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody", "A: " + strings.Repeat("a", 1500) + "\r\n", strings.Repeat("b", 1500), "",
}

// FuzzTheSameOfPieces puts together what bytes that are changed one by one hardly ever make: several requests, nearly right.
func FuzzTheSameOfPieces(f *testing.F) {
	at := func(names ...string) (b []byte) {
		for _, name := range names {
			for i, p := range pieces {
				if p == name {
					b = append(b, byte(i))
				}
			}
		}
		return b
	}
	f.Add(at("GET ", "/echo", " HTTP/1.1\r\n", "Host: h\r\n", "\r\n", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"))
	f.Add(at("POST ", "/unread", " HTTP/1.1\r\n", "Host: h\r\n", "Content-Length: ", "4", "\r\n", "\r\n", "body", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"))
	f.Add(at("POST ", "/echo", " HTTP/1.1\r\n", "Host: h\r\n", "Transfer-Encoding: chunked\r\n", "\r\n", "4\r\nbody\r\n", "0\r\n\r\n", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"))
	f.Add(at("GET /echo HTTP/1.1\r\nHost: h\r\n", "Expect: 100-continue\r\n", "Content-Length: ", "4", "\r\n", "\r\n", "", "body", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"))
	f.Add(at("GET /echo HTTP/1.1\r\nHost: h\r\n", "A: "+strings.Repeat("a", 1500)+"\r\n", "\r\n", "GET /echo HTTP/1.1\r\nHost: h\r\n", "A: "+strings.Repeat("a", 1500)+"\r\n", "\r\n", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"))
	f.Fuzz(func(t *testing.T, which []byte) {
		var packets []string
		var packet strings.Builder
		for n, i := range which[:min(len(which), 100)] {
			piece := pieces[int(i)%len(pieces)]
			if n > 20 && len(piece) > 1000 {
				continue // not more than 30,000 bytes, as above
			}
			packet.WriteString(piece)
			if piece == "" && packet.Len() > 0 {
				packets = append(packets, packet.String())
				packet.Reset()
			}
		}
		compare(t, append(packets, packet.String()))
	})
}

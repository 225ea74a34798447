package edge

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"
)

// LeastPacked is the least size of an answer that is gzipped, in bytes. A smaller one fits into one packet, so packing gains nothing.
const LeastPacked = 1400

// Packer gzips one answer at a time, since a writer takes 800 KB. Its zero value is ready. It is safe for concurrent use.
type Packer struct {
	mu   sync.Mutex
	to   bytes.Buffer
	with *gzip.Writer // nil before the first answer
}

// Pack returns the body gzipped. It waits for running calls.
func (p *Packer) Pack(body []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pack(body)
}

// TryPack returns the body gzipped, or nil while another body is packed, which takes as long as some requests.
func (p *Packer) TryPack(body []byte) []byte {
	if !p.mu.TryLock() {
		return nil
	}
	defer p.mu.Unlock()
	return p.pack(body)
}

func (p *Packer) pack(body []byte) []byte {
	p.to.Reset()
	if p.with == nil {
		p.with = gzip.NewWriter(&p.to)
	} else {
		p.with.Reset(&p.to)
	}
	_, _ = p.with.Write(body) // writes into memory never fail
	_ = p.with.Close()
	return bytes.Clone(p.to.Bytes())
}

// AcceptsGzip reports whether a client with these values of Accept-Encoding accepts gzip (RFC 9110, section 12.5.3).
func AcceptsGzip(acceptEncoding []string) bool {
	accepts := false
	for _, line := range acceptEncoding {
		for coding := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(coding, ";")
			name = strings.TrimSpace(name)
			if strings.EqualFold(name, "gzip") || strings.EqualFold(name, "x-gzip") {
				return wanted(parameters)
			}
			accepts = accepts || name == "*" && wanted(parameters)
		}
	}
	return accepts
}

// wanted reports whether the weight is above 0. An unreadable weight counts as above 0.
func wanted(parameters string) bool {
	name, weight, _ := strings.Cut(parameters, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return true
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
	return err != nil || q > 0
}

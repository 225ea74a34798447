package plainhttp

// Conns is how many connections the server has that are not net/http's.
func (s *Server) Conns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Kept is how many bytes of memory its connections keep for their next answers. They must be idle.
func (s *Server) Kept() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		n += cap(c.head) + cap(c.body)
	}
	return n
}

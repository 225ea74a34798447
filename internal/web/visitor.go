package web

import (
	"github.com/gin-gonic/gin"

	"levelboard/internal/signin"
)

// Visitor is who asks for a page.
type Visitor struct {
	Session *signin.Session // nil when nobody is signed in
}

const visitorKey = "levelboard.visitor"

// visitorOf returns who asks for the page; never nil. It is the one place that handlers learn it from.
func visitorOf(c *gin.Context) *Visitor {
	known, _ := c.Get(visitorKey)
	if who, ok := known.(*Visitor); ok {
		return who
	}
	return &Visitor{}
}

// identify finds out who asks and charges them, before anything else costs work.
func (s *Site) identify(c *gin.Context) {
	who := &Visitor{}
	c.Set(visitorKey, who)
	if err := s.charge(c, who); err != nil {
		s.fail(c, err)
	}
}

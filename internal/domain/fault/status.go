package fault

import "net/http"

var statuses = map[Code]int{
	Internal:             http.StatusInternalServerError,
	Invalid:              http.StatusBadRequest,
	Unauthenticated:      http.StatusUnauthorized,
	Forbidden:            http.StatusForbidden,
	NotFound:             http.StatusNotFound,
	MethodNotAllowed:     http.StatusMethodNotAllowed,
	Conflict:             http.StatusConflict,
	TooLarge:             http.StatusRequestEntityTooLarge,
	UnsupportedMediaType: http.StatusUnsupportedMediaType,
	RateLimited:          http.StatusTooManyRequests,
	Unavailable:          http.StatusServiceUnavailable,
}

// Status is the HTTP status that the edge answers for the code, the same one for programs and for people.
func (c Code) Status() int { return statuses[c] }

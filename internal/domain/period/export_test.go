package period

var ErrMalformed = errMalformed

package apikey

var ErrMalformed = errMalformed

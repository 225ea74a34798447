// Package bson stands where Gin wants MongoDB's encoding, which Levelboard neither reads nor writes; go.mod says so.
package bson

import "errors"

var errNotHere = errors.New("BSON is not part of this build")

// Marshal fails.
func Marshal(value any) ([]byte, error) { return nil, errNotHere }

// Unmarshal fails.
func Unmarshal(data []byte, value any) error { return errNotHere }

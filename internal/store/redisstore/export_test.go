package redisstore

import "levelboard/internal/store/redisconn"

// Client is what the store speaks by.
func (s *Store) Client() *redisconn.Client { return s.client }

package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Client is how everything here and in package ratelimit talks to Redis. Commands that it is given are sent to where their keys
// are; scripts on guilds go to the node that holds the guild.
type Client struct {
	redis.UniversalClient
	only *node
}

// single is the client of one server.
func single(n *node) *Client { return &Client{UniversalClient: n.Client, only: n} }

// onNodeOf calls send with the node that holds the key.
func (c *Client) onNodeOf(_ context.Context, _ string, send func(n *node) error) error {
	return send(c.only)
}

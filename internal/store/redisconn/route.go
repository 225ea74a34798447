package redisconn

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Errors of commands that a cluster cannot be given without saying to which node.
var (
	errNoKey       = errors.New("a command without a key was not sent: on a cluster it belongs to no node")
	errTransaction = errors.New("a transaction was not sent: on a cluster none is used")
)

// route is the hook of a go-redis cluster client that takes each command from it: the client's own loop sends a command again
// when its connection has failed, which may do it twice.
type route struct{ *cluster }

// DialHook changes nothing.
func (route) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook sends a command to the node of its key.
func (r route) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		key, ok := keyOf(cmd)
		if !ok {
			return errNoKey
		}
		return r.follow(ctx, slotOf(key), func(ctx context.Context, n *node, asking bool) error {
			return n.processAsking(ctx, cmd, asking)
		})
	}
}

// ProcessPipelineHook sends the commands to the nodes of their keys, those of each node in one pipeline, and in no order among
// the nodes. A command that a node refuses because of its slot is then sent by itself.
func (r route) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		parts, err := r.parts(ctx, cmds)
		if err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		var sent sync.WaitGroup
		for n, part := range parts {
			sent.Go(func() { r.processPart(ctx, n, part) })
		}
		sent.Wait()
		for _, cmd := range cmds {
			if err := cmd.Err(); err != nil {
				return err
			}
		}
		return nil
	}
}

func (r route) parts(ctx context.Context, cmds []redis.Cmder) (map[*node][]redis.Cmder, error) {
	if cmds[0].Name() == "multi" {
		return nil, errTransaction
	}
	table, err := r.slotTable(ctx)
	if err != nil {
		return nil, err
	}
	parts := map[*node][]redis.Cmder{}
	for _, cmd := range cmds {
		key, ok := keyOf(cmd)
		if !ok {
			return nil, errNoKey
		}
		n := table.nodes[slotOf(key)]
		parts[n] = append(parts[n], cmd)
	}
	return parts, nil
}

func (r route) processPart(ctx context.Context, n *node, cmds []redis.Cmder) {
	if n == nil {
		for _, cmd := range cmds {
			cmd.SetErr(errNoMaster)
		}
	} else {
		pipeline := n.Pipeline()
		for _, cmd := range cmds {
			_ = pipeline.Process(ctx, cmd)
		}
		_, err := pipeline.Exec(ctx)
		r.heard(ctx, err)
	}
	for _, cmd := range cmds {
		if nothingRan(cmd.Err()) {
			cmd.SetErr(r.ProcessHook(nil)(ctx, cmd))
		}
	}
}

// processAsking sends a command; with asking, after askingCommand.
func (n *node) processAsking(ctx context.Context, cmd redis.Cmder, asking bool) error {
	if !asking {
		return n.Process(ctx, cmd)
	}
	pipeline := n.Pipeline()
	_ = pipeline.Process(ctx, askingCommand(ctx))
	_ = pipeline.Process(ctx, cmd)
	_, err := pipeline.Exec(ctx)
	return err
}

// askingCommand lets the next command touch a slot that is still on its way to the node.
func askingCommand(ctx context.Context) redis.Cmder { return redis.NewStatusCmd(ctx, "asking") }

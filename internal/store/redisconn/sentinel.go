package redisconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"
)

// SentinelOptions are how a server is found through sentinels.
type SentinelOptions struct {
	Master             string // the name by which they know it
	Username, Password string // of the sentinels themselves; the URL holds the server's
	// PasswordNow says what the password is by now, for each new connection; nil: Password. While it fails, the one before counts.
	PasswordNow func() (string, error)
}

// Errors of finding the master.
var (
	// ErrUnknownMaster says that sentinels answer, and none of them watches a master of that name.
	ErrUnknownMaster = errors.New("the sentinels know no master of that name")
	// ErrSentinel is in every error that is about a sentinel and not about the server.
	ErrSentinel = errors.New("ask a sentinel")
	errReplica  = errors.New("the server that the sentinels name is not the master, or not yet")
	errBehind   = errors.New("the sentinels that answer do not know of the latest failover")
)

const (
	// watchInterval is how often the sentinels are asked for the master, beside when one announces another. A master that was away for a
	// moment keeps its connections and takes changes, which are lost when it hears that it was replaced, so its connections must be
	// closed before.
	watchInterval = 250 * time.Millisecond
	// stragglers is how long the answer of most sentinels waits for the others, which may know better.
	stragglers = 100 * time.Millisecond
	// untold is how long a failover counts that no sentinel reports any longer. Sentinels tell each other every 2 s, so at first most may
	// not know of it.
	untold = 10 * time.Second
)

// sentinels find the master. All are asked each time, and the latest failover counts, so that one which hangs or is behind does not
// decide. (go-redis's failover client stays with the one that it chose first, also when that is silent.)
type sentinels struct {
	master  string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration // of one question
	all     []*redis.SentinelClient
	asking  singleflight.Group
	conns   masterConns
	latest  int64     // the latest failover that any sentinel has told of; asking guards it
	told    time.Time // when one told of it last

	cancel   context.CancelFunc
	watching sync.WaitGroup
}

func newSentinels(hosts []string, o SentinelOptions, server *redis.Options) *sentinels {
	s := &sentinels{master: o.Master, dial: server.Dialer, timeout: server.DialTimeout / 2}
	for _, host := range hosts {
		opts := &redis.Options{
			Addr: host, Username: o.Username, Password: o.Password, Dialer: s.dial,
			DialTimeout: s.timeout, ReadTimeout: s.timeout, WriteTimeout: s.timeout, PoolTimeout: s.timeout,
			PoolSize: 2, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
			Protocol: server.Protocol, DisableIdentity: true, MaintNotificationsConfig: server.MaintNotificationsConfig,
		}
		if o.PasswordNow != nil {
			rotating(opts, func() (credentials, error) {
				now, err := o.PasswordNow()
				return credentials{o.Username, now}, err
			})
		}
		s.all = append(s.all, redis.NewSentinelClient(opts))
	}
	return s
}

// start begins to watch; stop ends it.
func (s *sentinels) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.watching.Go(func() { s.watch(ctx) })
}

func (s *sentinels) stop() {
	s.cancel()
	s.watching.Wait()
	for _, one := range s.all {
		_ = one.Close()
	}
}

func (s *sentinels) watch(ctx context.Context) {
	switched := make(chan struct{}, 1)
	for _, one := range s.all {
		announced := one.Subscribe(ctx, "+switch-master")
		s.watching.Go(func() {
			for range announced.Channel() {
				select {
				case switched <- struct{}{}:
				default:
				}
			}
		})
		defer func() { _ = announced.Close() }()
	}
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-switched:
		case <-tick.C:
		}
		_, _ = s.find(ctx) // whoever needs the master hears the error
	}
}

// dialMaster connects to the master of the moment, in place of the address that the client was made with.
func (s *sentinels) dialMaster(ctx context.Context, _, _ string) (net.Conn, error) {
	address, err := s.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the master: %w", err)
	}
	conn, err := s.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return s.conns.add(conn, address), nil
}

// find returns the master's address and closes connections to any other one when most sentinels agree. Callers at the same
// time share the answer.
func (s *sentinels) find(ctx context.Context) (string, error) {
	found := s.asking.DoChan("", func() (any, error) {
		asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		best, sure, err := s.ask(asked)
		if err != nil {
			return "", err
		}
		// The master before may be back, with the data that it died with, before the sentinels that answer have heard that it was replaced.
		if best.epoch < s.latest && (!sure || time.Since(s.told) < untold) {
			return "", fmt.Errorf("%w: %w", ErrSentinel, errBehind)
		}
		s.latest, s.told = best.epoch, time.Now()
		if sure {
			s.conns.only(best.address)
		}
		return best.address, nil
	})
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-found:
		return got.Val.(string), got.Err
	}
}

// opinion is what one sentinel says of the master.
type opinion struct {
	address string
	epoch   int64 // which failover made it the master; the highest is the latest
	under   bool  // a failover is under way there, so that it may know the next master before the others do
	err     error
}

// newer compares two opinions; the one that is right if any is comes last.
func newer(a, b opinion) int {
	if order := cmp.Compare(a.epoch, b.epoch); order != 0 || a.under == b.under {
		return order
	}
	if b.under {
		return -1
	}
	return 1
}

// ask asks all sentinels. Once most agree, it does not wait for the others for long. sure says that most of all sentinels name that
// address.
func (s *sentinels) ask(ctx context.Context) (best opinion, sure bool, err error) {
	answers := make(chan opinion, len(s.all))
	for _, one := range s.all {
		go func() { answers <- s.askOne(ctx, one) }()
	}
	var good []opinion
	var failures []error
	var late <-chan time.Time
	for range s.all {
		select {
		case got := <-answers:
			if got.err != nil {
				failures = append(failures, got.err)
				continue
			}
			good = append(good, got)
		case <-late:
			return s.judge(good, failures)
		}
		if _, sure, _ := s.judge(good, failures); sure && late == nil {
			timer := time.NewTimer(stragglers)
			defer timer.Stop()
			late = timer.C
		}
	}
	return s.judge(good, failures)
}

func (s *sentinels) judge(good []opinion, failures []error) (best opinion, sure bool, err error) {
	if len(good) == 0 {
		return opinion{}, false, errors.Join(failures...)
	}
	best = good[0]
	for _, o := range good[1:] {
		if newer(best, o) < 0 {
			best = o
		}
	}
	agree := 0
	for _, o := range good {
		if o.address == best.address {
			agree++
		}
	}
	return best, agree > len(s.all)/2, nil
}

func (s *sentinels) askOne(ctx context.Context, one *redis.SentinelClient) opinion {
	address, err := one.GetMasterAddrByName(ctx, s.master).Result()
	if errors.Is(err, redis.Nil) {
		return opinion{err: ErrUnknownMaster}
	}
	if err != nil {
		return opinion{err: fmt.Errorf("%w: %w", ErrSentinel, err)}
	}
	details, err := one.Master(ctx, s.master).Result()
	if err != nil {
		return opinion{err: fmt.Errorf("%w: %w", ErrSentinel, err)}
	}
	epoch, err := strconv.ParseInt(details["config-epoch"], 10, 64)
	if err != nil || len(address) != 2 {
		return opinion{err: fmt.Errorf("%w: %w", ErrSentinel, errReply)}
	}
	return opinion{
		address: net.JoinHostPort(address[0], address[1]), epoch: epoch,
		under: strings.Contains(details["flags"], "failover_in_progress"),
	}
}

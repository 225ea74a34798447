package award

import (
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// draw is a random source that returns the test's number and records its calls.
type draw struct {
	number, asked, of int
}

func (d *draw) random(n int) int {
	d.asked++
	d.of = n
	return d.number
}

func channels(multiplier float64, ids ...id.Channel) guild.Multiplier {
	m := guild.Multiplier{Type: guild.ChannelMultiplier, Multiplier: multiplier}
	for _, c := range ids {
		m.Channels = append(m.Channels, guild.Channel{ID: c})
	}
	return m
}

func roles(multiplier float64, ids ...id.Role) guild.Multiplier {
	m := guild.Multiplier{Type: guild.RoleMultiplier, Multiplier: multiplier}
	for _, r := range ids {
		m.Roles = append(m.Roles, guild.Role{ID: r})
	}
	return m
}

func TestXPFollowsRulesAndMultipliers(t *testing.T) {
	base := guild.Settings{XPPerMessageMin: 20, XPPerMessageMax: 20, XPGlobalMultiplier: 1}
	with := func(change func(s *guild.Settings)) guild.Settings {
		s := base
		change(&s)
		return s
	}
	multiplied := func(m ...guild.Multiplier) guild.Settings { return with(func(s *guild.Settings) { s.Multipliers = m }) }
	global := func(f float64) guild.Settings { return with(func(s *guild.Settings) { s.XPGlobalMultiplier = f }) }
	ignoring := with(func(s *guild.Settings) { s.IgnoredChannelIDs, s.IgnoredRoleIDs = []id.Channel{"9"}, []id.Role{"9"} })
	ignoring.IgnoredUserIDs = []id.User{"9"}
	everywhere := Message{Channel: "1", Parent: "2", Roles: []id.Role{"1", "2"}}
	for name, c := range map[string]struct {
		settings guild.Settings
		message  Message
		want     level.XP
	}{
		"no multipliers":                        {base, everywhere, 20},
		"the global one":                        {global(2.5), everywhere, 50},
		"rounded down":                          {global(1.99), everywhere, 39},
		"a decimal that no float is":            {global(1.15), everywhere, 23},
		"more decimals than a million":          {global(1.00000004), everywhere, 20},
		"more decimals, just at a whole number": {global(0.3500000000000001), everywhere, 7},
		"more decimals, just below":             {global(0.3499999999999999), everywhere, 6},
		"at least one":                          {global(0.001), everywhere, 1},
		"zero":                                  {global(0), everywhere, 0},
		"the channel's":                         {multiplied(channels(2, "1")), everywhere, 40},
		"another channel's":                     {multiplied(channels(2, "3")), everywhere, 20},
		"the parent's":                          {multiplied(channels(2, "2")), everywhere, 40},
		"the channel's own before its parent's": {multiplied(channels(2, "1"), channels(3, "2")), everywhere, 40},
		"the channel's own, though it is 0":     {multiplied(channels(0, "1"), channels(3, "2")), everywhere, 0},
		"a channel without a parent":            {multiplied(channels(3, "2")), Message{Channel: "1"}, 20},
		"a channel named twice":                 {multiplied(channels(3, "1"), channels(2, "1")), everywhere, 60},
		"a role's":                              {multiplied(roles(2, "1")), everywhere, 40},
		"the largest role's":                    {multiplied(roles(2, "1"), roles(3, "2")), everywhere, 60},
		"the largest in the other order":        {multiplied(roles(3, "1"), roles(2, "2")), everywhere, 60},
		"a role's below 1":                      {multiplied(roles(0.5, "1")), everywhere, 10},
		"roles of 0 and more":                   {multiplied(roles(0, "1"), roles(0.5, "2")), everywhere, 10},
		"only a role of 0":                      {multiplied(roles(0, "1")), everywhere, 0},
		"a role that the author does not have":  {multiplied(roles(2, "3")), everywhere, 20},
		"no roles":                              {multiplied(roles(2, "1")), Message{Channel: "1"}, 20},
		"all of them":                           {multiplied(channels(1.5, "1"), roles(1.1, "2")), everywhere, 33},
		"a role is not a channel":               {multiplied(roles(2, "1"), channels(3, "9")), Message{Channel: "1", Parent: "1"}, 20},
		"an ignored channel":                    {ignoring, Message{Channel: "9"}, Uncounted},
		"a channel whose parent is ignored":     {ignoring, Message{Channel: "1", Parent: "9"}, Uncounted},
		"an ignored role":                       {ignoring, Message{Channel: "1", Roles: []id.Role{"1", "9"}}, Uncounted},
		"an ignored user":                       {ignoring, Message{UserID: "9", Channel: "1"}, Uncounted},
		"none of them":                          {ignoring, everywhere, 20},
		"the highest XP and multipliers": {with(func(s *guild.Settings) {
			s.XPPerMessageMin, s.XPPerMessageMax, s.XPGlobalMultiplier, s.Multipliers = 1000, 1000, 5, []guild.Multiplier{channels(5, "1"), roles(5, "1")}
		}), everywhere, 125000},
	} {
		t.Run(name, func(t *testing.T) {
			d := &draw{}
			if got := NewRules(&c.settings).XP(c.message, d.random); got != c.want {
				t.Errorf("the message gives %d XP, want %d", got, c.want)
			}
			if c.want <= 0 && d.asked != 0 || c.want > 0 && d.asked != 1 {
				t.Errorf("%d random numbers were drawn, want one if the message gives XP", d.asked)
			}
		})
	}
}

func TestXPIsFromTheMinimumToTheMaximum(t *testing.T) {
	r := NewRules(&guild.Settings{XPPerMessageMin: 15, XPPerMessageMax: 40, XPGlobalMultiplier: 1})
	for number, want := range map[int]level.XP{0: 15, 25: 40} {
		d := &draw{number: number}
		if got := r.XP(Message{Channel: "1"}, d.random); got != want || d.of != 26 {
			t.Errorf("the message gives %d XP drawn from %d numbers, want %d of 26", got, d.of, want)
		}
	}
}

// The product is of the decimals as written, not of the floats.
func TestScaleIsExact(t *testing.T) {
	decimal := rapid.Custom(func(t *rapid.T) string {
		digits := rapid.IntRange(0, 16).Draw(t, "digits")
		text := strconv.Itoa(rapid.IntRange(0, 4).Draw(t, "whole"))
		for i := range digits {
			if i == 0 {
				text += "."
			}
			text += strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "digit"))
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		product, factors := new(big.Rat).SetInt64(int64(n)), [3]factor{}
		for i := range factors {
			text := decimal.Draw(t, "factor")
			exact, _ := new(big.Rat).SetString(text)
			product.Mul(product, exact)
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if back, _ := new(big.Rat).SetString(strconv.FormatFloat(value, 'g', -1, 64)); back.Cmp(exact) != 0 {
				t.Skip("a float does not hold that many digits")
			}
			factors[i] = factorOf(value)
		}
		want := new(big.Int).Quo(product.Num(), product.Denom()).Int64()
		if got := scale(n, factors[0], factors[1], factors[2]); int64(got) != want {
			t.Errorf("the scaled number is %d, want %d", got, want)
		}
	})
}

package level

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// ratio is an exact coefficient.
type ratio = *big.Rat

func whole(n int64) ratio       { return big.NewRat(n, 1) }
func fraction(a, b int64) ratio { return big.NewRat(a, b) }

// decimal returns the shortest decimal that reads back as c, which must be finite.
func decimal(c float64) ratio {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(c, 'g', -1, 64))
	return r
}

// polynomial evaluates a curve exactly. It uses floats if their error cannot change how a
// value is rounded, which is nearly always, and else big integers over a common denominator.
type polynomial struct {
	preset string
	top    Level // the highest level that begins at MaxXP or below
	terms  int

	floats  [MaxCoefficients]float64
	whole   []*big.Int // the coefficients times divisor
	divisor *big.Int
}

func newPolynomial(coefficients []ratio) *polynomial {
	p := &polynomial{terms: len(coefficients), divisor: big.NewInt(1)}
	for i, c := range coefficients {
		f, _ := c.Float64()
		p.floats[i] = f + 0 // -0 becomes 0
		gcd := new(big.Int).GCD(nil, nil, p.divisor, c.Denom())
		p.divisor.Mul(p.divisor, new(big.Int).Quo(c.Denom(), gcd))
	}
	for _, c := range coefficients {
		p.whole = append(p.whole, new(big.Int).Mul(c.Num(), new(big.Int).Quo(p.divisor, c.Denom())))
	}
	return p
}

// at is XPFor without the maximum level. Its results are from -maxThreshold to maxThreshold.
func (p *polynomial) at(n Level) XP {
	if n <= 0 {
		return 0
	}
	if xp, sure := p.atFloat(float64(n)); sure {
		return xp
	}
	return p.atBig(int64(n))
}

// atFloat evaluates with floats. sure means that their error cannot move the value across a half. Horner's scheme over at most 5
// rounded coefficients errs by less than 10 units of 2^-53 of the sum of the terms' magnitudes; the margin is 2^-48 of that sum.
func (p *polynomial) atFloat(n float64) (xp XP, sure bool) {
	var v, magnitude float64
	for i := p.terms - 1; i >= 0; i-- {
		v = v*n + p.floats[i]
		magnitude = magnitude*n + math.Abs(p.floats[i])
	}
	margin := magnitude * 0x1p-48
	if v-margin > float64(maxThreshold)+1 {
		return maxThreshold, true
	}
	if v+margin < -float64(maxThreshold)-1 {
		return -maxThreshold, true
	}
	if !(margin < 0.25) { // also when margin is not a number
		return 0, false
	}
	fromHalf := math.Abs(math.Abs(v-math.Trunc(v)) - 0.5)
	if fromHalf <= margin {
		return 0, false
	}
	return XP(math.Round(v)), true
}

func (p *polynomial) atBig(n int64) XP {
	v, factor := new(big.Int), big.NewInt(n)
	for i := p.terms - 1; i >= 0; i-- {
		v.Add(v.Mul(v, factor), p.whole[i])
	}
	negative := v.Sign() < 0
	v.Abs(v).Lsh(v, 1).Add(v, p.divisor)
	v.Quo(v, new(big.Int).Lsh(p.divisor, 1))
	xp := maxThreshold
	if v.IsInt64() {
		xp = min(XP(v.Int64()), maxThreshold)
	}
	if negative {
		return -xp
	}
	return xp
}

// rise checks that the curve rises at every level up to MaxXP, and finds top. After a
// level above MaxXP, none may begin at MaxXP or below, since the curve would fall there.
func (p *polynomial) rise() error {
	var before XP
	for n := Level(1); n <= Max; n++ {
		xp := p.at(n)
		if xp <= MaxXP {
			if xp <= before {
				return fmt.Errorf("the curve must rise at every level: level %d needs %d XP, level %d needs %d", n, xp, n-1, before)
			}
			p.top = n
		}
		before = xp
	}
	return nil
}

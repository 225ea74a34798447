package award

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"levelboard/internal/domain/level"
)

// factor is a multiplier, from 0 to 5: the shortest decimal that reads as its float, multiplied exactly. 20 times 1.15 is 23.
type factor struct {
	value    float64
	millions uint64 // value * 1,000,000 when that is a whole number
	exact    bool   // whether it is
}

const million = 1_000_000

var one = factorOf(1)

func factorOf(value float64) factor {
	millions := math.Round(value * million)
	return factor{value: value, millions: uint64(millions), exact: millions/million == value}
}

// scale is floor(n * a * b * c), exactly, for n from 0 to 1000.
func scale(n int, a, b, c factor) level.XP {
	if a.exact && b.exact && c.exact {
		// At most 1000 * 5^3 * 10^18, of 77 bits; the product before the last factor is at most 2.5 * 10^16.
		high, low := bits.Mul64(uint64(n)*a.millions*b.millions, c.millions)
		quotient, _ := bits.Div64(high, low, million*million*million)
		return level.XP(quotient)
	}
	product := new(big.Rat).SetInt64(int64(n))
	for _, f := range []factor{a, b, c} {
		decimal, ok := new(big.Rat).SetString(strconv.FormatFloat(f.value, 'g', -1, 64))
		if !ok {
			return 0 // not a number, which no setting is
		}
		product.Mul(product, decimal)
	}
	return level.XP(new(big.Int).Quo(product.Num(), product.Denom()).Int64())
}

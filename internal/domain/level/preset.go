package level

// The names of the presets.
const (
	PresetDefault = "default"
	PresetAmari   = "amari"
	PresetMEE6    = "mee6"
)

var (
	defaultPolynomial = mustPreset(PresetDefault, whole(150), whole(-100), whole(50))
	presets           = map[string]Curve{
		PresetDefault: {},
		PresetAmari:   {mustPreset(PresetAmari, whole(55), whole(-40), whole(20))},
		PresetMEE6:    {mustPreset(PresetMEE6, whole(0), fraction(455, 6), fraction(45, 2), fraction(5, 3))},
	}
)

// Preset returns the curve of a name: default, amari or mee6.
func Preset(name string) (Curve, bool) {
	c, ok := presets[name]
	return c, ok
}

// PresetName returns the name that the curve was made by; ok is false for a curve made of coefficients, even of a preset's.
func (c Curve) PresetName() (name string, ok bool) {
	name = c.polynomial().preset
	return name, name != ""
}

// mustPreset makes a preset of exact fractions; a mistake in this file stops the program at start.
func mustPreset(name string, coefficients ...ratio) *polynomial {
	p := newPolynomial(coefficients)
	p.preset = name
	if err := p.rise(); err != nil {
		panic("level: preset " + name + ": " + err.Error())
	}
	return p
}

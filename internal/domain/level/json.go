package level

import (
	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
)

// MarshalJSON writes a preset's name, or the coefficients.
func (c Curve) MarshalJSON() ([]byte, error) {
	if name, ok := c.PresetName(); ok {
		return json.Marshal(name)
	}
	return json.Marshal(c.Coefficients())
}

// ReadJSON reads a preset's name, or coefficients.
func (c *Curve) ReadJSON(v strictjson.Value) error {
	switch v.Kind() {
	case '"':
		var name string
		if err := v.Decode(&name); err != nil {
			return err
		}
		if preset, ok := Preset(name); ok {
			*c = preset
			return nil
		}
	case '[':
		var coefficients []float64
		err := v.Decode(&coefficients)
		if err != nil {
			return err
		}
		if *c, err = NewCurve(coefficients); err != nil {
			return &fault.Error{Code: fault.Invalid, Path: v.Path(), Message: err.Error()}
		}
		return nil
	}
	return fault.At(v.Path(), "must be the name of a preset (default, amari or mee6) or an array of %d to %d coefficients", MinCoefficients, MaxCoefficients)
}

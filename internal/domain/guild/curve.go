package guild

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/strictjson"
)

const curveForms = "must be the name of a preset (default, amari or mee6) or an array of 2 to 5 coefficients"

// parseCurve reads the document's curve: a preset's name, or coefficients.
func parseCurve(value jsontext.Value) (level.Curve, error) {
	switch value.Kind() {
	case '"':
		var name string
		if err := strictjson.DecodeAt("curve", value, &name); err != nil {
			return level.Curve{}, err
		}
		c, ok := level.Preset(name)
		if !ok {
			return level.Curve{}, fault.At("curve", curveForms)
		}
		return c, nil
	case '[':
		coefficients, err := strictjson.List[float64]("curve", value, level.MinCoefficients, level.MaxCoefficients)
		if err != nil {
			return level.Curve{}, err
		}
		c, err := level.NewCurve(coefficients)
		if err != nil {
			return level.Curve{}, &fault.Error{Code: fault.Invalid, Path: "curve", Message: err.Error()}
		}
		return c, nil
	}
	return level.Curve{}, fault.At("curve", curveForms)
}

func marshalCurve(c level.Curve) (jsontext.Value, error) {
	if name, ok := c.PresetName(); ok {
		return json.Marshal(name)
	}
	return json.Marshal(c.Coefficients())
}

package tracing

import (
	"strconv"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// sampler reads OTEL_TRACES_SAMPLER and its argument. A request is always the root of its trace here, so the samplers that
// look at a parent do as those without one.
func (r *reader) sampler() sdk.Sampler {
	name := r.vars["OTEL_TRACES_SAMPLER"]
	kind, parentBased := strings.CutPrefix(name, "parentbased_")
	var root sdk.Sampler
	switch kind {
	case "always_on", "":
		root = sdk.AlwaysSample()
	case "always_off":
		root = sdk.NeverSample()
	case "traceidratio":
		root = sdk.TraceIDRatioBased(r.ratio())
	default:
		r.warn("OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of these after parentbased_; it is taken as parentbased_always_on")
		return sdk.ParentBased(sdk.AlwaysSample())
	}
	if parentBased || name == "" {
		return sdk.ParentBased(root)
	}
	return root
}

func (r *reader) ratio() float64 {
	text := r.vars["OTEL_TRACES_SAMPLER_ARG"]
	if text == "" {
		return 1
	}
	ratio, err := strconv.ParseFloat(text, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		r.warn("OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1; it is taken as 1")
		return 1
	}
	return ratio
}

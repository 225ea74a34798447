package clients

import (
	"context"
	"math"
	"net/http"
	"testing"
)

const guild = "200000000000000001"

// A curve's coefficients and a multiplier are read back exactly as sent.
func TestNumbersStayExact(t *testing.T) {
	client := start(t, map[string]string{"Authorization": "Bearer " + adminToken})
	for _, coefficients := range []CurveCoefficients{
		{0, 455.0 / 6, 22.5, 5.0 / 3}, {0.1, 16777217, 1.0 / 3}, {150, -100, 50}, {1e-300, 1, math.Nextafter(2, 3)},
	} {
		var curve Curve
		if err := curve.FromCurveCoefficients(coefficients); err != nil {
			t.Fatal(err)
		}
		multiplier := math.Nextafter(0.1, 1)
		put, err := client.PutGuildWithResponse(t.Context(), guild, nil, GuildSettings{
			Name: "Gophers", MemberCount: 5000, OwnerId: "100000000000000001", Curve: &curve, XpGlobalMultiplier: &multiplier,
		})
		if err != nil || put.StatusCode() > 201 {
			t.Fatalf("putting a guild with %v: %v, %s", coefficients, err, put.Body)
		}
		got, err := client.GetGuildWithResponse(t.Context(), guild)
		if err != nil || got.JSON200 == nil {
			t.Fatalf("reading the guild: %v, %s", err, got.Body)
		}
		if preset, err := got.JSON200.Curve.AsCurvePreset(); err == nil {
			if isDefault := preset == Default && len(coefficients) == 3 && coefficients[0] == 150; !isDefault && preset != Mee6 {
				t.Errorf("%v is read back as the preset %s", coefficients, preset)
			}
			continue
		}
		read, err := got.JSON200.Curve.AsCurveCoefficients()
		if err != nil || len(read) != len(coefficients) {
			t.Fatalf("%v is read back as %v (%v)", coefficients, read, err)
		}
		for i := range read {
			if math.Float64bits(read[i]) != math.Float64bits(coefficients[i]) {
				t.Errorf("coefficient %d is %v, want %v", i, read[i], coefficients[i])
			}
		}
		if got.JSON200.XpGlobalMultiplier != multiplier {
			t.Errorf("the multiplier is %v, want %v", got.JSON200.XpGlobalMultiplier, multiplier)
		}
	}
}

// Each variant of XPChange changes a member's XP.
func TestVariantsAreSent(t *testing.T) {
	operator := start(t, map[string]string{"Authorization": "Bearer " + adminToken})
	put, err := operator.PutGuildWithResponse(t.Context(), guild, nil, GuildSettings{Name: "Gophers", MemberCount: 5000, OwnerId: "100000000000000001"})
	if err != nil || put.JSON201 == nil {
		t.Fatalf("putting a guild: %v, %s", err, put.Body)
	}
	made, err := operator.CreateKeyWithResponse(t.Context(), nil, NewKey{Name: "bot", OwnerId: "100000000000000001", Permission: ReadWrite, GuildIds: &[]Snowflake{guild}})
	if err != nil || made.JSON201 == nil {
		t.Fatalf("creating a key: %v, %s", err, made.Body)
	}
	key := func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-Api-Key", made.JSON201.Key)
		return nil
	}
	user := UserId("100000000000000002")
	created, err := operator.CreateMemberWithResponse(t.Context(), guild, user, nil, NewMember{Xp: 100, User: NewUser{Username: "ada", Discriminator: "0"}}, key)
	if err != nil || created.JSON200 == nil {
		t.Fatalf("creating a member: %v, %s", err, created.Body)
	}
	for _, step := range []struct {
		choose func(*XPChange) error
		want   int
	}{
		{func(x *XPChange) error { return x.FromXPValue(120) }, 120},
		{func(x *XPChange) error { return x.FromXPIncrement(XPIncrement{Increment: 40}) }, 160},
		{func(x *XPChange) error { return x.FromXPDecrement(XPDecrement{Decrement: 10}) }, 150},
	} {
		var change XPChange
		if err := step.choose(&change); err != nil {
			t.Fatal(err)
		}
		updated, err := operator.UpdateMemberWithResponse(t.Context(), guild, user, nil, MemberUpdate{Xp: change}, key)
		if err != nil || updated.JSON200 == nil || updated.JSON200.Level.Xp != step.want {
			t.Errorf("the change gives %s (%v), want %d XP", updated.Body, err, step.want)
		}
	}
}

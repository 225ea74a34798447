// What clients do with requests and answers beside the calls of the documentation.
import type { components } from "./schema.js";

type Schemas = components["schemas"];

// What has a default may be left out.
export const guild: Schemas["GuildSettings"] = { name: "Gophers", memberCount: 5000, ownerId: "100000000000000001" };
export const key: Schemas["NewKey"] = { name: "bot", ownerId: "100000000000000001", permission: "read" };
export const reward: Schemas["RoleRewardSetting"] = { level: 5, roles: [{ id: "300000000000000001", name: "Regular" }] };
// @ts-expect-error: a name is required
export const nameless: Schemas["GuildSettings"] = { memberCount: 5000, ownerId: "100000000000000001" };

// Unions are distinguished by what is in them, and their variants have names.
export const curves: Schemas["Curve"][] = ["mee6", [150, -100, 50]];
export const changes: Schemas["XPChange"][] = [120, { increment: 40 }, { decrement: 1 } satisfies Schemas["XPDecrement"]];
// @ts-expect-error: no such preset
export const steep: Schemas["Curve"] = "steep";

export function gained(page: Schemas["LeaderboardPage"]): number {
  return "period" in page ? page.levels.reduce((sum, row) => sum + row.gained, 0) : 0;
}

export function targets(multiplier: Schemas["Multiplier"]): (string | null)[] {
  return multiplier.type === "Channel" ? multiplier.targets.map((t) => t.parentId) : multiplier.targets.map((t) => t.name);
}

export function raised(event: Schemas["Event"]): number {
  return "previousLevel" in event ? event.level - event.previousLevel : 0;
}

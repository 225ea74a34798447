// A bot that keeps communities' levels in Levelboard. It needs DISCORD_TOKEN and LEVELBOARD_KEY, and LEVELBOARD_URL if
// the service is not at http://127.0.0.1:8080.
import { readFileSync, writeFileSync } from 'node:fs';
import { ApplicationCommandOptionType as Type, Client, Events, GatewayIntentBits as Intents } from 'discord.js';
import { call, follow, pause } from './levelboard.js';

const client = new Client({ intents: [Intents.Guilds, Intents.GuildMembers, Intents.GuildMessages] });
const guilds = {}; // by id: what the next second hands over
const handover = id => guilds[id] ??= { messages: [], present: new Map(), roles: Promise.resolve() };
const report = err => console.error(err.message);
const read = async path => JSON.parse((await call('GET', path)).content);

client.on(Events.MessageCreate, m => {
  if (!m.inGuild() || m.author.bot || m.system) return;
  const { username, globalName, discriminator, avatar } = m.author;
  handover(m.guildId).messages.push({
    userId: m.author.id, channelId: m.channelId, parentChannelId: m.channel?.parentId ?? null,
    roleIds: [...(m.member?.roles.cache.keys() ?? [])], user: { username, globalName, discriminator, avatar },
  });
});
client.on(Events.GuildMemberAdd, m => handover(m.guild.id).present.set(m.id, true));
client.on(Events.GuildMemberRemove, m => handover(m.guild.id).present.set(m.id, false));

// handOver sends the messages of a second, who came and left, up to 1,000 each, and the guild's names if they have changed.
async function handOver(guild) {
  const { id } = guild, next = handover(id), { present } = next, path = `/v2/guilds/${id}`;
  for (const messages = next.messages.splice(0); messages.length;) { // 500 with many roles are less than 1 MiB
    const r = await call('POST', `${path}/messages`, { messages: messages.splice(0, 500) }).catch(report);
    if (!r || r.headers.has('Idempotent-Replayed')) continue; // the first answer may be old: the events have the roles
    for (const result of JSON.parse(r.content).results) setRoles(guild, result);
  }
  for (const is of [true, false]) {
    const userIds = [...present.keys()].filter(user => present.get(user) === is).slice(0, 1000);
    for (const user of userIds) present.delete(user);
    if (userIds.length) await call('PUT', `${path}/presence`, { present: is, userIds }).catch(report);
  }
  const directory = describe(guild);
  if (directory !== next.directory) await call('PUT', `${path}/directory`, JSON.parse(next.directory = directory));
}

function describe({ id, name, icon, memberCount, roles, channels }) {
  const role = r => ({ id: r.id, name: r.name, color: r.color || null, position: r.rawPosition });
  const channel = c => ({ id: c.id, name: c.name, parentId: c.parentId, position: c.rawPosition, type: c.type });
  const shown = channels.cache.filter(c => !c.isThread()).map(channel);
  return JSON.stringify({ name, icon, memberCount, roles: roles.cache.filter(r => r.id !== id).map(role), channels: shown });
}

// setRoles gives and takes a member's roles, in order. Without a cached member it fetches one: the cache lags behind changes.
function setRoles({ id, members }, { userId, addRoles, removeRoles }, cached) {
  const next = handover(id);
  if (addRoles.length || removeRoles.length) next.roles = next.roles.then(async () => {
    const { roles } = cached ?? await members.fetch({ user: userId, force: true }).catch(report) ?? {};
    for (const role of addRoles) if (roles?.cache.has(role) === false) await roles.add(role).catch(report);
    for (const role of removeRoles) if (roles?.cache.has(role)) await roles.remove(role).catch(report);
  });
  return next.roles;
}

// catchUp notes who has left and who is back, sets everybody's roles by level, and announces the last week.
async function catchUp(guild, state) {
  const { id, members: { cache } } = guild, next = handover(id), levels = new Map(), changes = {};
  const note = rows => rows.map(row => levels.set(row.userId, row.level)).length;
  for (let page = 1; note((await read(`/v2/levels/${id}?page=${page}`)).levels) === 100;) page++;
  if (cache.size !== guild.memberCount) await guild.members.fetch(); // Discord allows that every 30 seconds at most
  await next.roles;
  const members = cache.filter(m => !m.user.bot);
  for (const user of levels.keys()) if (!members.has(user)) next.present.set(user, false);
  for (const user of members.keys()) if (!levels.has(user)) next.present.set(user, true);
  const at = level => changes[level] ??= read(`/v2/guilds/${id}/role-rewards/level?level=${level}&userId=${client.user.id}`);
  const { removeRoles } = await at(0), holds = m => removeRoles.some(role => m.roles.cache.has(role));
  const unlisted = [...members.filter(m => !levels.has(m.id) && holds(m)).keys()]; // a page may miss who changes places
  while (unlisted.length) note((await read(`/v2/guilds/${id}/members?ids=${unlisted.splice(0, 100)}`)).members);
  for (const m of members.values()) await setRoles(guild, await at(levels.get(m.id) ?? 0), m);
  const newest = (await read(`/v2/levels/${id}/periods?page=1&kind=week`)).periods.find(week => week.closed);
  if (newest && state.announced.length) await announce(guild, state, newest);
}

// announce congratulates the winners of a week, a month or a season, once.
async function announce(guild, state, { id, kind, name, winners }) {
  if (kind === 'day' || !winners.length || state.announced.includes(id)) return;
  const lines = winners.slice(0, 3).map(w => `${w.rank}. <@${w.userId}> +${w.gained} XP`);
  await guild.systemChannel?.send([`**${name ?? `The ${kind} ${id}`} is over!**`, ...lines].join('\n')).catch(report);
  state.announced.push(id);
}

// followGuild applies a guild's events for ever. Its file has the last event and the periods that were announced.
async function followGuild(guildId) {
  const file = `levelboard-${guildId}.json`, state = { announced: [] }, next = handover(guildId);
  try { Object.assign(state, JSON.parse(readFileSync(file, 'utf8'))); } catch { /* the first start */ }
  await follow(guildId, state, async (id, event, data) => {
    const guild = client.guilds.cache.get(guildId); // none while the bot is removed from it: the event waits
    if (next.behind || event === 'reset') {
      Object.assign(next, { behind: false, directory: null }); // the directory is sent again
      await catchUp(guild, state).catch(err => { next.behind = true; throw err; });
    }
    if (event === 'period') await announce(guild, state, data);
    if (data.removeRoles) await setRoles(guild, { addRoles: [], ...data });
    state.id = id;
    writeFileSync(file, JSON.stringify(state));
  });
}

const choices = ['day', 'week', 'month', 'season'].map(value => ({ name: value, value }));
const member = { type: Type.User, name: 'member', description: 'You, if left out' };
const period = { type: Type.String, name: 'period', description: 'All time, if left out', choices };
const commands = [
  { name: 'rank', description: "A member's level and rank", options: [member] },
  { name: 'leaderboard', description: 'The top ten', options: [period] },
];
const answers = {
  async rank(i) {
    const { id } = i.options.getUser('member') ?? i.user;
    const card = await call('GET', `/v2/levels/${i.guildId}/users/${id}/card.png`);
    return { files: [{ attachment: card.content, name: 'rank.png' }] };
  },
  async leaderboard(i) {
    const kind = i.options.getString('period');
    const { levels } = await read(`/v2/levels/${i.guildId}?page=1${kind ? `&period=${kind}` : ''}`);
    const rows = levels.map(l => `${l.rank}. <@${l.userId}> ${kind ? `+${l.gained}` : `level ${l.level}, ${l.xp}`} XP`);
    return { content: rows.slice(0, 10).join('\n') || 'Nobody yet.', allowedMentions: { parse: [] } };
  },
};
client.on(Events.InteractionCreate, i => {
  if (!i.isChatInputCommand() || !i.inGuild()) return;
  const answer = () => answers[i.commandName](i).catch(err => report(err) ?? { content: 'There is nothing to show.' });
  i.deferReply().then(answer).then(reply => i.editReply(reply)).catch(report);
});

// begin follows a guild, once. It catches up also when the bot joins it again, or has missed events of Discord.
const begin = ({ id }) => { handover(id).behind = true; handover(id).followed ??= followGuild(id); };
const turns = () => client.guilds.cache.map(guild => guild.available && handOver(guild).catch(report));
let turn = Promise.resolve(); // the last one waits for the one before it
const handOverAll = () => turn = turn.then(() => Promise.all(turns()));
for (const event of [Events.GuildAvailable, Events.GuildCreate]) client.on(event, begin);
client.once(Events.ClientReady, async () => {
  await client.application.commands.set(commands).catch(report);
  for (;; await pause(1)) await handOverAll();
});
for (const end of ['SIGINT', 'SIGTERM']) process.once(end, () => handOverAll().finally(() => process.exit()));
await client.login(process.env.DISCORD_TOKEN);

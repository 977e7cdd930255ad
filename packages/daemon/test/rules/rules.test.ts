import { createCaches } from '@pawl/daemon/platform/caches';
import type { Choices } from '@pawl/daemon/platform/platform';
import { unconfined } from '../support/unconfined.ts';
import { judgeByRules } from '@pawl/daemon/rules/judge';
import { addRule } from '@pawl/daemon/rules/rules';
import { agentById } from '@pawl/store/agents/agents';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { allEvents } from '../support/mail.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** The rules of the home's `config.yaml`. */
let homeRules: Choices['rules'] = [];

const matches = async (client = daemon.client) => (await client.listRules()).rules.map(({ match }) => match);

test('a rule is added, listed with its consequence, used and revoked', async () => {
  const agent = await daemon.work(['complete']);
  await daemon.ended(agent.id);
  const { rule } = await daemon.client.addRule({
    effect: 'allow',
    match: ' command  npm   test',
    path: daemon.repository,
  });
  expect(rule).toMatchObject({
    scope: 'project',
    effect: 'allow',
    match: 'command npm test',
    madeBy: 'person',
    usedAt: null,
  });
  expect(rule.does).toMatch(/^Allows exactly the command “npm test” for every agent of this project/);
  const again = await daemon.client.addRule({ effect: 'allow', match: 'command npm test', path: daemon.repository });
  expect(again.rule.id).toBe(rule.id);
  expect(await judge(agent.id, 'npm test')).toMatchObject({ effect: 'allow' });
  expect(await judge(agent.id, 'npm test; id')).toMatchObject({ effect: 'ask' });
  const used = (await daemon.client.listRules()).rules.find(({ id }) => id === rule.id);
  expect(used?.usedAt).toEqual(expect.any(Number));
  expect((await daemon.client.revokeRule(rule.id.slice(0, 8))).rule.revokedAt).toEqual(expect.any(Number));
  expect(await judge(agent.id, 'npm test')).toMatchObject({ effect: 'ask' });
  expect(await matches()).not.toContain('command npm test');
  await expect(daemon.client.revokeRule(rule.id)).rejects.toMatchObject({ code: 'conflict' });
  const events = (await allEvents(daemon.client)).filter(({ type }) => type.startsWith('rule.'));
  expect(events.map(({ type, data }) => [type, data['ruleId']])).toEqual([
    ['rule.added', rule.id],
    ['rule.revoked', rule.id],
  ]);
});

async function judge(agentId: string, command: string, sessionId: string | null = null) {
  const store = storeOf(daemon.home.root);
  const agent = await agentById(store.db, agentId);
  if (agent === null) throw new Error('no agent');
  const cwd = agent.worktree === null ? null : realpathSync(agent.worktree);
  const platform = {
    store,
    home: daemon.home,
    caches: createCaches(),
    repositories: new Map(),
    currentChoices: async () => ({ ...unconfined, rules: homeRules }),
  };
  return judgeByRules(platform, agent, sessionId, { kind: 'command', tool: 'Bash', command, cwd });
}

test.each([
  ['npm test', /begins with none of/],
  ['command npm test; rm x', /one simple command/],
  ['tool Bash', /would allow every command/],
  ['network *', /would allow every host/],
])('%s is no rule, and nothing is stored', async (match, why) => {
  await expect(daemon.client.addRule({ effect: 'allow', match })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(why),
    hint: expect.stringContaining('command npm test'),
  });
  expect(await matches()).not.toContain(match);
});

test('a rule needs a project or agent that exists, and not both', async () => {
  const rule = { effect: 'deny' as const, match: 'command rm' };
  await expect(daemon.client.addRule({ ...rule, project: 'nothing' })).rejects.toMatchObject({
    code: 'project_not_found',
  });
  await expect(daemon.client.addRule({ ...rule, agent: 'nobody' })).rejects.toMatchObject({ code: 'agent_not_found' });
  const both = { ...rule, path: daemon.repository, agent: 'somebody' };
  await expect(daemon.client.addRule(both)).rejects.toMatchObject({ code: 'usage' });
});

test('rules of an agent and of a session apply to it only, and an agent sees its own', async () => {
  const [one, other] = [await daemon.work(['complete']), await daemon.work(['complete'])];
  await daemon.ended(one.id);
  await daemon.ended(other.id);
  await daemon.client.addRule({ effect: 'allow', match: 'command one', agent: one.alias });
  const { session } = await daemon.client.inspectAgent(one.id).then(({ sessions }) => ({ session: sessions[0] }));
  if (session === undefined) throw new Error('no session');
  const owner = { scope: 'session', scopeId: session.id } as const;
  const made = { effect: 'allow', match: 'command this-session', madeBy: 'person', requestId: null } as const;
  await storeOf(daemon.home.root).write((tx) => addRule(tx, { ...owner, ...made }));
  expect(await judge(one.id, 'one')).toMatchObject({ effect: 'allow' });
  expect(await judge(other.id, 'one')).toMatchObject({ effect: 'ask' });
  expect(await judge(one.id, 'this-session', session.id)).toMatchObject({ effect: 'allow' });
  expect(await judge(one.id, 'this-session')).toMatchObject({ effect: 'ask' });
  expect(await matches(agentClient(daemon.home, one.id))).toContain('command one');
  expect(await matches(agentClient(daemon.home, other.id))).not.toContain('command one');
  // The session has ended, and its rule with it.
  expect(await matches()).not.toContain('command this-session');
});

test('an agent cannot add or revoke a rule [rules]', async () => {
  const agent = await daemon.work(['complete']);
  await daemon.ended(agent.id);
  const client = agentClient(daemon.home, agent.id);
  const { rule } = await daemon.client.addRule({ effect: 'deny', match: 'command forbidden' });
  await expect(client.addRule({ effect: 'allow', match: 'command ls' })).rejects.toMatchObject({ code: 'forbidden' });
  await expect(client.revokeRule(rule.id)).rejects.toMatchObject({ code: 'forbidden' });
  expect(await matches()).toContain('command forbidden');
});

test('a rule of the home’s configuration applies to all agents', async () => {
  const agent = await daemon.work(['complete']);
  await daemon.ended(agent.id);
  homeRules = [
    { effect: 'allow', match: 'command home-tool' },
    { effect: 'deny', match: 'command home-denied' },
  ];
  expect(await judge(agent.id, 'home-tool')).toMatchObject({ effect: 'allow', rules: [{ id: null }] });
  expect(await judge(agent.id, 'sudo home-denied x')).toMatchObject({ effect: 'deny' });
  homeRules = [];
});

describe('a repository’s own rules', () => {
  const write = (text: string) => {
    mkdirSync(join(daemon.repository, '.pawl'), { recursive: true });
    writeFileSync(join(daemon.repository, '.pawl/config.yaml'), text);
  };
  afterEach(async () => {
    rmSync(join(daemon.repository, '.pawl/config.yaml'), { force: true });
    await daemon.client.trust({ path: daemon.repository, revoke: true });
  });
  const rulesAt = async () =>
    (await daemon.client.trustList({ path: daemon.repository })).files.filter(({ kind }) => kind === 'rules');

  test('deny always, and allow only when trusted, with exactly the trusted texts [rules]', async () => {
    const agent = await daemon.work(['complete']);
    await daemon.ended(agent.id);
    write('rules:\n  - allow: command make  check\n  - deny: command make deploy\n');
    expect(await judge(agent.id, 'make deploy')).toMatchObject({ effect: 'deny' });
    expect(await judge(agent.id, 'make check')).toMatchObject({ effect: 'ask' });
    expect(await rulesAt()).toMatchObject([
      { path: '.pawl/config.yaml', trusted: false, does: ['allows agents without asking: command make check'] },
    ]);
    const listed = await daemon.client.listRules({ path: daemon.repository });
    expect(listed.rules.filter(({ id }) => id === null).map(({ match, counts }) => [match, counts])).toEqual([
      ['command make  check', false],
      ['command make deploy', true],
    ]);
    await daemon.client.trust({ path: daemon.repository });
    expect(await rulesAt()).toMatchObject([{ trusted: true }]);
    expect(await judge(agent.id, 'make check')).toMatchObject({ effect: 'allow' });
    // Other parts of the file, and deny rules, may change.
    write('checks: [make check]\nrules:\n  - deny: command rm\n  - allow: command make check\n');
    expect(await judge(agent.id, 'make check')).toMatchObject({ effect: 'allow' });
    write('rules:\n  - allow: command make check\n  - allow: command curl-pipe\n');
    expect(await judge(agent.id, 'make check')).toMatchObject({ effect: 'ask' });
    expect(await rulesAt()).toMatchObject([{ trusted: false }]);
  });

  test('a file that cannot be read leaves nothing allowed, since a deny rule may be in it', async () => {
    const agent = await daemon.work(['complete']);
    await daemon.ended(agent.id);
    const { rule } = await daemon.client.addRule({ effect: 'allow', match: 'command own', path: daemon.repository });
    expect(await judge(agent.id, 'own')).toMatchObject({ effect: 'allow' });
    write('rules:\n  - deny: nonsense\n');
    expect(await judge(agent.id, 'own')).toMatchObject({
      effect: 'ask',
      reason: expect.stringContaining('is not a rule'),
    });
    expect((await daemon.client.listRules({ path: daemon.repository })).trouble).toMatch(/config\.yaml:1 is invalid/);
    write('rules:\n  - maybe: command x\n');
    expect(await judge(agent.id, 'own')).toMatchObject({
      effect: 'ask',
      reason: expect.stringContaining('{allow: …} or {deny: …}'),
    });
    await daemon.client.revokeRule(rule.id);
  });

  test('the file in an agent’s own worktree says nothing', async () => {
    const agent = await daemon.work(['complete']);
    await daemon.ended(agent.id);
    mkdirSync(join(agent.worktree ?? '', '.pawl'), { recursive: true });
    writeFileSync(join(agent.worktree ?? '', '.pawl/config.yaml'), 'rules:\n  - allow: command anything\n');
    await daemon.client.trust({ path: daemon.repository });
    expect(await judge(agent.id, 'anything')).toMatchObject({ effect: 'ask' });
  });
});

import { whoHears } from '@pawl/core/supervision/complete';
import { mayAct, mayUseTool } from '@pawl/core/definitions/gate';
import { programs } from '@pawl/protocol/node/programs';
import { definitionSchema } from '@pawl/schema/definition';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aPlace, markdown } from '../support/definitions.ts';
import { agentRecord } from '../support/records.ts';

const builtIn = programs.builtInDefinitions;
const roles = readdirSync(builtIn).map((name) => name.replace('.md', ''));

test('the six roles, the crew of four and the helper are valid definitions [7.16, S0-16]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, problems, notices } = await aPlace(directory.path, { builtIn }).definitions.load(null);
  expect(problems).toEqual([]);
  expect(notices).toEqual([]);
  expect([...definitions.keys()]).toEqual([
    'architect',
    'coder',
    'helper-mode',
    'lead',
    'merge-queue',
    'plan',
    'review',
    'search',
    'supervisor',
    'worker',
    'workspace',
  ]);
  for (const definition of definitions.values()) {
    expect(definitionSchema.parse(definition)).toEqual(definition);
    const kind = ['plan', 'search'].includes(definition.id) ? 'subagent' : 'main';
    expect(definition).toMatchObject({ kind, role: definition.id, toolGate: 'hard', provider: null });
    expect(definition.description).not.toBe('');
    expect(definition.prompt.length).toBeGreaterThan(500);
  }
});

test.each([
  ['supervisor', 'persistent', ['Finalize', 'Delegate'], 'Status check: Review worker progress and check merge queue.'],
  ['merge-queue', 'persistent', ['Finalize', 'Delegate'], 'Status check: Review open PRs and check CI status.'],
  ['worker', 'ephemeral', ['Patch'], 'Status check: Update on your progress?'],
  ['review', 'ephemeral', [], 'Status check: Update on your review progress?'],
  ['workspace', 'persistent', ['Patch', 'Finalize', 'Delegate'], null],
  ['helper-mode', 'persistent', ['Patch'], null],
] as const)(
  '%s is %s, may %j, and has its own nudge [S4-03, S4-05, S4-08, S4-11, S4-13, S4-27]',
  async (id, cls, allow, nudge) => {
    await using directory = await temporaryDirectory();
    const definition = await aPlace(directory.path, { builtIn }).definitions.find(null, id);
    expect(definition).toMatchObject({ class: cls, policy: { allow, delegateTargets: [] }, nudge });
    const patches = mayAct(definition, 'Patch');
    for (const tool of ['Write', 'Edit', 'apply_patch']) expect(mayUseTool(definition, tool)).toBe(patches);
    for (const tool of ['Read', 'Grep', 'shell']) expect(mayUseTool(definition, tool)).toBe(true);
  },
);

test('the architect plans: it may write its output, and proposes, settles and delegates nothing', async () => {
  await using directory = await temporaryDirectory();
  const definition = await aPlace(directory.path, { builtIn }).definitions.find(null, 'architect');
  expect(definition).toMatchObject({ class: 'ephemeral', policy: { allow: [], delegateTargets: [] }, hears: [] });
  expect(mayUseTool(definition, 'Write')).toBe(true);
});

test.each([
  ['lead', 'main', ['Finalize', 'Delegate'], ['coder', 'plan', 'search'], false],
  ['coder', 'main', ['Patch', 'Delegate'], ['plan', 'search'], true],
  ['plan', 'subagent', [], [], false],
  ['search', 'subagent', [], [], false],
] as const)('%s is a %s that may %j to %j; writes: %s [W2-04]', async (id, kind, allow, delegateTargets, writes) => {
  await using directory = await temporaryDirectory();
  const definition = await aPlace(directory.path, { builtIn }).definitions.find(null, id);
  // Only persistent mains are started for every project.
  expect(definition).toMatchObject({ kind, class: 'ephemeral', policy: { allow, delegateTargets } });
  for (const tool of ['Write', 'Edit', 'Bash']) expect(mayUseTool(definition, tool)).toBe(writes);
  for (const tool of ['Read', 'Glob', 'Grep']) expect(mayUseTool(definition, tool)).toBe(true);
});

test.each([
  // S4-04: the supervisor modifies no change; hearing of changes includes the right to close one.
  ['supervisor', ['emergency']],
  ['merge-queue', ['changes', 'reviews', 'emergency']],
  ['worker', []],
  ['review', []],
  ['workspace', []],
  ['helper-mode', []],
] as const)('%s hears of the merge queue: %j [S4-04, S4-07, S4-13]', async (id, hears) => {
  await using directory = await temporaryDirectory();
  expect(await aPlace(directory.path, { builtIn }).definitions.find(null, id)).toMatchObject({ hears });
});

test.each([
  ['supervisor', 'wake', []],
  ['merge-queue', 'wake', []],
  ['worker', 'wake', ['supervisor', 'merge-queue']],
  ['review', 'wake', ['merge-queue']],
  // The workspace is for a person: mail of other agents waits until it is fetched.
  ['workspace', 'pull', []],
  ['helper-mode', 'pull', []],
] as const)('mail for %s: %s; %j hear that it completed or is stuck [S4-04, S4-12, W4-04]', async (id, mail, told) => {
  await using directory = await temporaryDirectory();
  const definition = await aPlace(directory.path, { builtIn }).definitions.find(null, id);
  expect(definition.mail).toBe(mail);
  const colleagues = roles.map((role) => ({ role, agent: agentRecord({ alias: role }) }));
  const heard = whoHears(agentRecord({}), definition.notify, { supervisor: null, colleagues });
  expect(heard.map(({ alias }) => alias).toSorted()).toEqual([...told].toSorted());
});

test('each role has its verbs in its text, and the merge queue’s offers no way around the gate [S4-06, S4-09, S4-14]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions } = await aPlace(directory.path, { builtIn }).definitions.load(null);
  const verbs = (id: string) => [
    ...new Set(
      [...(definitions.get(id)?.prompt ?? '').matchAll(/`pawl ((?:change )?[a-z]+)/g)].map(([, verb]) => verb),
    ),
  ];
  expect(verbs('worker')).toEqual(expect.arrayContaining(['change open', 'change comment', 'complete']));
  expect(verbs('review')).toEqual(['change show', 'change diff', 'change comment', 'complete']);
  expect(verbs('merge-queue')).toEqual([
    'queue',
    'change show',
    'change log',
    'change diff',
    'change comment',
    'work',
    'change close',
  ]);
  for (const [id, { prompt }] of definitions) {
    expect(prompt, id).not.toMatch(/change (approve|merge|unblock)/);
  }
});

test('the helper’s contract has its id, the four tiers, a light start and the end [S0-16, W0-07]', async () => {
  await using directory = await temporaryDirectory();
  const { mail, prompt } = await aPlace(directory.path, { builtIn }).definitions.find(null, 'helper-mode');
  expect(mail).toBe('pull');
  const parts = [
    /first line/,
    /do not pull/,
    /Always:/,
    /With care:/,
    /Never, while others/,
    /one short note/,
    /session end/,
  ];
  for (const part of [...parts, /ban on git no longer applies/]) expect(prompt).toMatch(part);
});

test('helper and primary have one short note for each other, and no other channel [W0-13]', async () => {
  await using directory = await temporaryDirectory();
  const { prompt } = await aPlace(directory.path, { builtIn }).definitions.find(null, 'helper-mode');
  const contract = new Set([...prompt.matchAll(/pawl ((?:session )?[a-z]+)/g)].map(([, verb]) => verb));
  expect([...contract]).toEqual(['session begin', 'session path', 'send', 'mail', 'session end']);
  expect([...prompt.matchAll(/pawl send (\S+)/g)].map(([, to]) => to)).toEqual(['primary']);
});

test('no source file knows the roster of roles [S2-02]', () => {
  const packages = join(import.meta.dirname, '..', '..', '..');
  const sources = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /^[^/]+\/src\/.*\.(ts|tsx|sh)$/.test(name) && !name.includes('node_modules'),
  );
  expect(sources.length).toBeGreaterThan(50);
  // Plan and search are everyday words, too.
  const names = roles.filter((role) => role !== 'plan' && role !== 'search');
  const word = new RegExp(`(['"\`])(${names.join('|')})\\1`, 'g');
  const knowing = sources.filter((name) => {
    const found = [...readFileSync(join(packages, name), 'utf8').matchAll(word)].map(([, , role]) => role);
    return new Set(found).size > 1;
  });
  expect(knowing).toEqual([]);
});

test('a new role is one file with role, class and nudge [S4-32]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put } = aPlace(directory.path, { builtIn });
  put('gardener.md', markdown({ kind: 'main', class: 'persistent', role: 'gardener', nudge: 'Any weeds?' }));
  const { definitions: found } = await definitions.load(project);
  expect(found.size).toBe(roles.length + 1);
  expect(found.get('gardener')).toMatchObject({ role: 'gardener', class: 'persistent', nudge: 'Any weeds?' });
});

test('a person’s file and the repository’s in .multiclaude/agents are appended to a role, as custom instructions [W4-18]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, user, write } = aPlace(directory.path, { builtIn });
  const before = await definitions.find(project, 'worker');
  write(join(user, 'worker.md'), markdown({}, 'Write briefly.'));
  write(join(project.root, '.multiclaude', 'agents', 'worker.md'), 'Use tabs.\n');
  write(
    join(project.root, '.multiclaude', 'agents', 'gardener.md'),
    markdown({ kind: 'main', role: 'gardener' }, 'Weed.'),
  );
  const { definitions: found, problems, notices } = await definitions.load(project);
  expect([problems, notices]).toEqual([[], []]);
  const { prompt, sources, ...rest } = found.get('worker') ?? before;
  expect(prompt).toBe(`${before.prompt}\n\nWrite briefly.\n\nUse tabs.`);
  expect(sources).toHaveLength(3);
  expect(before).toMatchObject(rest);
  expect(found.get('gardener')).toMatchObject({ prompt: 'Weed.', role: 'gardener' });
});

test('a repository can extend a role’s text, not its rights [7.16]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put } = aPlace(directory.path, { builtIn });
  put('review.md', markdown({ tools: ['*'], policy: ['Patch'] }, 'We also check spelling.'));
  put('worker.md', markdown({ disallowedTools: ['WebFetch'], work_globs: ['src/**'] }));
  const { definitions: found, notices } = await definitions.load(project);
  const review = found.get('review');
  expect(review?.prompt.endsWith('\n\nWe also check spelling.')).toBe(true);
  expect(review).toMatchObject({ policy: { allow: [] }, tools: ['Read', 'Glob', 'Grep', 'Bash'] });
  expect(notices.map(({ id, line }) => `${id} ${line}`)).toEqual(['review 2', 'review 3']);
  expect(found.get('worker')).toMatchObject({ deniedTools: ['WebFetch'], workGlobs: ['src/**'], tools: ['*'] });
});

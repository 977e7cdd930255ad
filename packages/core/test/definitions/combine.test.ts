import { expect, test } from 'vitest';
import type { DefinitionFile, Layer } from '../../src/definitions/definition-file.ts';
import { combine } from '../../src/definitions/combine.ts';
import { aFile } from './fixture.ts';

const untrusted = () => false;

function places(...files: DefinitionFile[]) {
  const layers: Layer[] = ['repository', 'user', 'built-in'];
  return layers.map((layer) => ({ layer, files: files.filter((file) => file.layer === layer), problems: [] }));
}

function builder(files: DefinitionFile[], trusted: (path: string, sha256: string) => boolean = untrusted) {
  const { definitions, notices, problems } = combine(places(...files), trusted);
  const definition = definitions.get('builder');
  if (definition === undefined) throw new Error('no builder');
  return { definition, notices, problems };
}

test('built-in, user, repository: prompts are appended and plain metadata is replaced [7.16]', () => {
  const { definition, notices } = builder([
    aFile('repository', { prompt: 'Here we use tabs.', model: 'small', role: 'mason' }),
    aFile('user', { prompt: 'Be brief.', nudge: null, description: 'mine' }),
    aFile('built-in', { prompt: 'Build it.', nudge: 'Well?', description: 'builds', model: 'large', mode: 'auto' }),
  ]);
  expect(definition).toMatchObject({
    prompt: 'Build it.\n\nBe brief.\n\nHere we use tabs.',
    description: 'mine',
    nudge: null,
    model: 'small',
    mode: 'auto',
    role: 'mason',
  });
  expect(definition.sources.map(({ layer }) => layer)).toEqual(['built-in', 'user', 'repository']);
  expect(notices).toEqual([]);
});

test('fields that a file does not state stay unchanged, tools above all [7.16]', () => {
  const { definition } = builder([aFile('built-in', { tools: ['*'] }), aFile('repository', { prompt: 'x' })]);
  expect(definition.tools).toEqual(['*']);
});

const base = aFile('built-in', {
  kind: 'subagent',
  tools: ['Read', 'Bash(git:*)'],
  deniedTools: ['WebFetch'],
  toolGate: 'hard',
  provider: 'claude',
  workGlobs: ['src/**', 'test/**'],
  policy: { allow: ['Patch', 'Delegate'], delegateTargets: ['plan', 'search'] },
});
const greedy = aFile('repository', {
  kind: 'main',
  tools: ['*'],
  deniedTools: [],
  toolGate: 'advisory',
  provider: 'other',
  workGlobs: ['src/**', '/etc/**'],
  policy: { allow: ['Patch', 'Finalize', 'Delegate'], delegateTargets: ['plan', 'root'] },
});

test('a repository cannot widen, and gets a notice per line [7.16]', () => {
  const { definition, notices, problems } = builder([base, greedy]);
  expect(definition).toMatchObject({
    kind: 'subagent',
    tools: ['Read', 'Bash(git:*)'],
    deniedTools: ['WebFetch'],
    toolGate: 'hard',
    provider: 'claude',
    workGlobs: ['src/**'],
    policy: { allow: ['Patch', 'Delegate'], delegateTargets: ['plan'] },
  });
  expect(problems).toEqual([]);
  const told = notices.map(({ line, reason }) => `${line} ${reason.split(',')[0]}`);
  expect(told.toSorted()).toEqual([
    '2 wants to be a main',
    '3 wants all tools',
    '5 wants an advisory tool gate',
    '6 wants the provider other',
    '7 wants to write to /etc/**',
    '8 wants the policy Finalize',
    '9 wants to delegate to root',
  ]);
  for (const notice of notices) {
    expect(notice).toMatchObject({ about: 'needs-trust', path: greedy.path, id: 'builder' });
    expect(notice.reason).toContain('run `pawl trust`');
  }
});

test('a trusted repository file can widen, but only with exactly that text [7.16]', () => {
  const trusted = (path: string, sha256: string) => path === greedy.path && sha256 === greedy.sha256;
  const { definition, notices } = builder([base, greedy], trusted);
  const { kind, tools, deniedTools, toolGate, provider, workGlobs, policy } = greedy.definition;
  expect(definition).toMatchObject({ kind, tools, deniedTools, toolGate, provider, workGlobs, policy });
  expect(notices).toEqual([]);
  expect(builder([base, { ...greedy, sha256: 'other text' }], trusted).definition.tools).not.toContain('*');
});

test('a user file can widen a built-in definition [7.16]', () => {
  const { definition, notices } = builder([base, { ...greedy, layer: 'user' }]);
  expect(definition).toMatchObject({ kind: 'main', tools: ['*'], provider: 'other' });
  expect(notices).toEqual([]);
});

test('a repository may narrow without trust [7.16]', () => {
  const wide = aFile('built-in', { tools: ['*'], policy: { allow: ['Patch', 'Delegate'], delegateTargets: [] } });
  const { definition, notices } = builder([
    { ...wide, definition: { ...wide.definition, toolGate: 'advisory' } },
    aFile('repository', {
      kind: 'subagent',
      tools: ['Read', 'Bash(git:*)'],
      deniedTools: ['Bash(git push:*)'],
      toolGate: 'hard',
      workGlobs: ['src/**'],
      policy: { allow: ['Delegate'], delegateTargets: ['plan'] },
    }),
  ]);
  expect(definition).toMatchObject({
    kind: 'subagent',
    class: 'ephemeral',
    tools: ['Read', 'Bash(git:*)'],
    deniedTools: ['Bash(git push:*)'],
    toolGate: 'hard',
    workGlobs: ['src/**'],
    policy: { allow: ['Delegate'], delegateTargets: ['plan'] },
  });
  expect(notices).toEqual([]);
});

test('an empty intersection never becomes "everything"', () => {
  const narrow = { workGlobs: ['docs/**'], policy: { allow: ['Delegate' as const], delegateTargets: ['root'] } };
  const { definition } = builder([base, aFile('repository', narrow)]);
  expect(definition.policy).toEqual({ allow: [], delegateTargets: ['plan', 'search'] });
  expect(definition.workGlobs).toEqual(['src/**', 'test/**']);
  const all = { workGlobs: [], policy: { allow: ['Delegate' as const], delegateTargets: [] } };
  const asked = builder([base, aFile('repository', all)]);
  expect(asked.definition).toMatchObject({
    workGlobs: ['src/**', 'test/**'],
    policy: { delegateTargets: ['plan', 'search'] },
  });
  expect(asked.notices).toHaveLength(2);
});

test('a new id of a repository is used as it is', () => {
  const { definition, notices } = builder([{ ...greedy }]);
  expect(definition).toBe(greedy.definition);
  expect(notices).toEqual([]);
});

test('if two files of one layer have the same id, the later is skipped and both are named [W2-02]', () => {
  const first = aFile('repository', { name: 'builder', prompt: 'first' }, '/r/.pawl/agents/a.md');
  const second = aFile('repository', { name: 'builder', prompt: 'second' }, '/r/agents/b.md');
  const { definition, problems } = builder([aFile('built-in', { prompt: 'base' }), first, second]);
  expect(definition.prompt).toBe('base\n\nfirst');
  expect(problems).toMatchObject([{ path: second.path, line: 2, id: 'builder' }]);
  expect(problems[0]?.reason).toContain(first.path);
});

test('while a user file is broken, its definition is unavailable', () => {
  const problem = { path: '/user/builder.md', line: 3, reason: 'broken', id: 'builder' };
  const [repository, user, builtIn] = places(
    aFile('built-in', { tools: ['*'] }),
    aFile('repository', { tools: ['*'] }),
  );
  if (!repository || !user || !builtIn) throw new Error('three places');
  const broken = combine([builtIn, { ...user, problems: [problem] }, repository], untrusted);
  expect(broken.definitions.has('builder')).toBe(false);
  expect(broken.problems).toEqual([problem]);
  const byRepository = combine([builtIn, user, { ...repository, problems: [problem] }], untrusted);
  expect(byRepository.definitions.has('builder')).toBe(true);
});

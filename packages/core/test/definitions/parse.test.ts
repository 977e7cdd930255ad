import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Definition } from '@pawl/schema/definition';
import { definitionSchema } from '@pawl/schema/definition';
import type { DefinitionFile } from '../../src/definitions/definition-file.ts';
import type { Flavour } from '../../src/definitions/parse.ts';
import { parseDefinition } from '../../src/definitions/parse.ts';
import { readLines } from './fixture.ts';

function parse(fields: string[], flavour: Flavour = 'pawl', path = '/agents/Builder.md') {
  const text = ['---', ...fields, '---', 'Build it.'].join('\n');
  return parseDefinition(text, { path, layer: 'repository', flavour, sha256: 'sha' }, readLines);
}

function fileOf(fields: string[], flavour?: Flavour, path?: string): DefinitionFile {
  const parsed = parse(fields, flavour, path);
  if (!parsed.ok) throw new Error(parsed.problem?.reason ?? 'not ours');
  return parsed.file;
}

const define = (...given: Parameters<typeof fileOf>): Definition => fileOf(...given).definition;

test('without fields everything has its default [W2-01]', () => {
  expect(define([])).toEqual({
    id: 'builder',
    name: 'builder',
    description: '',
    kind: 'main',
    class: 'persistent',
    role: null,
    provider: null,
    model: null,
    mode: null,
    interaction: null,
    tools: ['Read', 'Glob', 'Grep'],
    deniedTools: [],
    toolGate: 'hard',
    access: null,
    policy: { allow: [], delegateTargets: [] },
    workGlobs: [],
    lockGlobs: [],
    nudge: null,
    mail: 'wake',
    notify: ['parent'],
    hears: [],
    prompt: 'Build it.',
    sources: [{ layer: 'repository', path: '/agents/Builder.md' }],
  });
});

test('each field is read, with its line [W2-01]', () => {
  const file = fileOf([
    'name: "Lead"',
    'description: "leads"',
    'kind: "main"',
    'class: "Ephemeral"',
    'role: "lead"',
    'provider: "claude"',
    'model: "opus"',
    'mode: "plan"',
    'tools: ["read_file", "Bash(git:*)"]',
    'disallowedTools: "WebFetch, mcp__forge"',
    'toolGate: "advisory"',
    'policy: ["Patch", "Delegate"]',
    'work_globs: ["src/**"]',
    'nudge: "How is it?"',
    'mail: "next-turn"',
    'notify: ["parent", "lead"]',
    'default_lock_globs: ["x"]',
    'interaction: "chat"',
  ]);
  expect(file.definition).toMatchObject({
    id: 'lead',
    name: 'Lead',
    description: 'leads',
    kind: 'main',
    class: 'ephemeral',
    role: 'lead',
    provider: 'claude',
    model: 'opus',
    mode: 'plan',
    interaction: 'chat',
    tools: ['Read', 'Bash(git:*)'],
    deniedTools: ['WebFetch', 'mcp__forge__*'],
    toolGate: 'advisory',
    policy: { allow: ['Patch', 'Delegate'], delegateTargets: [] },
    workGlobs: ['src/**'],
    lockGlobs: ['x'],
    nudge: 'How is it?',
    mail: 'next-turn',
    notify: ['parent', 'lead'],
  });
  expect(file.stated).toMatchObject({ name: 2, tools: 10, 'policy.allow': 13, nudge: 15 });
  expect(file.stated['policy.delegateTargets']).toBeUndefined();
  expect(file.notices).toEqual([]);
});

test('`mode: chat` and `mode: auto` say how the agent works, not which prompt it gets [7.13]', () => {
  expect(fileOf(['mode: "chat"']).definition).toMatchObject({ mode: null, interaction: 'chat' });
  expect(fileOf(['mode: "auto"']).definition).toMatchObject({ mode: null, interaction: 'auto' });
  expect(fileOf(['mode: "review"', 'interaction: "auto"']).definition).toMatchObject({
    mode: 'review',
    interaction: 'auto',
  });
  expect(() => fileOf(['interaction: "loud"'])).toThrow();
});

test('an empty model and `inherit` are the default, and state nothing [W2-01]', () => {
  for (const model of ['', '""', '"inherit"', '"Inherit"']) {
    const file = fileOf([`model: ${model}`]);
    expect(file.definition.model).toBeNull();
    expect(file.stated.model).toBeUndefined();
  }
});

test('mains are persistent and subagents ephemeral, unless the file says otherwise [S2-05, S2-06]', () => {
  expect(define(['kind: "main"']).class).toBe('persistent');
  expect(define(['kind: "subagent"']).class).toBe('ephemeral');
  expect(define(['kind: "main"', 'class: "ephemeral"']).class).toBe('ephemeral');
});

test('no tools, all tools, and unstated tools are three different things [4.2.10]', () => {
  expect(define(['tools: []']).tools).toEqual([]);
  expect(define(['tools: ["*"]']).tools).toEqual(['*']);
  expect(define(['tools: "*"']).tools).toEqual(['*']);
  expect(define([]).tools).toEqual(['Read', 'Glob', 'Grep']);
  expect(parse(['tools:'])).toMatchObject({ ok: false, problem: { line: 2 } });
});

test('tools in one line are split at the commas between them', () => {
  expect(define(['tools: "Task(plan, search), read_file ,Bash"']).tools).toEqual([
    'Task(plan, search)',
    'Read',
    'Bash',
  ]);
});

test('a policy is a list, or an object with targets, in any spelling [S2-04, W2-03]', () => {
  expect(define(['policy: ["Patch", "Finalize", "Delegate"]']).policy.allow).toEqual(['Patch', 'Finalize', 'Delegate']);
  expect(define(['policy: "patch, FINALISE"']).policy.allow).toEqual(['Patch', 'Finalize']);
  expect(
    define(['policy: {"Allow": ["delegate", "Delegate"], "delegate_targets": ["Plan", "search", "plan"]}']).policy,
  ).toEqual({
    allow: ['Delegate'],
    delegateTargets: ['plan', 'search'],
  });
  expect(define(['policy: {"allow": "delegation", "delegateTargets": []}']).policy).toEqual({
    allow: ['Delegate'],
    delegateTargets: [],
  });
  expect(define(['policy: []']).policy).toEqual({ allow: [], delegateTargets: [] });
});

test('switching a nudge off is a statement', () => {
  for (const nudge of ['nudge:', 'nudge: false', 'nudge: ""']) {
    expect(fileOf([nudge])).toMatchObject({ definition: { nudge: null }, stated: { nudge: 2 } });
  }
});

test('an unknown field is ignored and reported', () => {
  const file = fileOf(['tols: ["Read"]', 'hooks: {}']);
  expect(file.notices.map(({ line, about }) => [line, about])).toEqual([
    [2, 'unknown-field'],
    [3, 'unknown-field'],
  ]);
  expect(file.definition).not.toHaveProperty('tols');
});

test("Claude's files are subagents with all tools, and Claude's own fields are known", () => {
  const ours = ['permissionMode', 'maxTurns', 'skills', 'mcpServers', 'hooks', 'isolation', 'color'];
  const file = fileOf([...ours.map((name) => `${name}: 1`), 'disallowedTools: "Bash"'], 'claude');
  expect(file.definition).toMatchObject({ kind: 'subagent', class: 'ephemeral', tools: ['*'], deniedTools: ['Bash'] });
  expect(file.notices).toEqual([]);
  expect(define(['tools: "Read, Grep"'], 'claude').tools).toEqual(['Read', 'Grep']);
});

test('a Claude file that claims to be a main is still a subagent', () => {
  const file = fileOf(['kind: "main"'], 'claude');
  expect(file.definition.kind).toBe('subagent');
  expect(file.stated.kind).toBeUndefined();
  expect(file.notices).toMatchObject([{ line: 2 }]);
});

test('in a shared folder, only a file with a kind is ours [S2-01]', () => {
  expect(parse(['name: "x"'], 'shared')).toEqual({ ok: false, problem: null });
  expect(parse(['name: "x"', 'this is no field'], 'shared')).toEqual({ ok: false, problem: null });
  expect(parse(['kind: "main"', 'this is no field'], 'shared')).toMatchObject({ ok: false, problem: { line: 3 } });
  expect(define(['kind: "main"'], 'shared').kind).toBe('main');
  const readme = { path: '/agents/README.md', layer: 'repository', flavour: 'shared', sha256: '' } as const;
  expect(parseDefinition('# Agents\n', readme, readLines)).toEqual({ ok: false, problem: null });
});

test.each([
  [['kind: "boss"'], 2, '`kind` is "boss", but must be main or subagent'],
  [['', 'class: "eternal"'], 3, '`class` is "eternal", but must be persistent or ephemeral'],
  [['toolGate: "soft"'], 2, '`toolGate` is "soft"'],
  [['description: ["a"]'], 2, '`description` must be text'],
  [['name: 7'], 2, '`name` must be text'],
  [['name: "Code Reviewer"'], 2, '`name` is "Code Reviewer", but a name is'],
  [['name: "../evil"'], 2, '`name` is "../evil"'],
  [['model: {"a": 1}'], 2, '`model` must be text'],
  [['model: "a\\u001bb"'], 2, '`model` has a control character'],
  [['provider: "a b"'], 2, '`provider` is "a b"'],
  [['tools: {"Read": true}'], 2, '`tools` must be a list'],
  [['tools: [["Read"]]'], 2, '`tools` must be text'],
  [['tools: ["Read", ""]'], 2, '`tools` has an empty entry'],
  [['tools: ["rm -rf"]'], 2, '`tools` has "rm -rf", which is not a tool'],
  [['tools: true'], 2, '`tools` must be a list'],
  [['policy: ["Ship"]'], 2, '`policy` has "Ship"'],
  [['policy: {"allow": [], "targets": []}'], 2, '`policy` has "targets"'],
  [['policy: 3'], 2, '`policy` must be a list of actions'],
  [['policy: {"delegate_targets": ["a b"]}'], 2, '`policy` is "a b"'],
  [['work_globs: "a"', 'workGlobs: "b"'], 3, 'given twice'],
  [['disallowedTools: "Bash"', 'deniedTools: []'], 3, 'given twice'],
])('%j is a problem with its line [4.2.9]', (fields, line, reason) => {
  const parsed = parse(fields);
  expect(parsed).toMatchObject({ ok: false, problem: { path: '/agents/Builder.md', line } });
  expect(parsed.ok ? '' : parsed.problem?.reason).toContain(reason);
});

test('a list that is too long is refused', () => {
  const parsed = parse([`tools: ${JSON.stringify(Array.from({ length: 257 }, (_, index) => `t${index}`))}`]);
  expect(parsed).toMatchObject({ ok: false, problem: { reason: '`tools` has more than 256 entries' } });
});

test('a file with an invalid file name needs a name field', () => {
  expect(parse([], 'pawl', '/agents/my agent.md')).toMatchObject({ ok: false, problem: { line: 1 } });
  expect(define(['name: "agent"'], 'pawl', '/agents/my agent.md').id).toBe('agent');
});

test('any fields give a valid definition or a problem', () => {
  const names = [
    'name',
    'description',
    'kind',
    'class',
    'role',
    'provider',
    'model',
    'tools',
    'policy',
    'nudge',
    '__proto__',
  ];
  const fields = fc.array(fc.record({ name: fc.constantFrom(...names), line: fc.nat(), value: fc.jsonValue() }));
  fc.assert(
    fc.property(fields, fc.constantFrom<Flavour[]>('pawl', 'shared', 'claude'), (given, flavour) => {
      const origin = { path: '/a/b.md', layer: 'user', flavour, sha256: '' } as const;
      const parsed = parseDefinition('---\n---\n', origin, () => ({ ok: true, fields: given }));
      if (parsed.ok) expect(definitionSchema.parse(parsed.file.definition)).toEqual(parsed.file.definition);
      else if (parsed.problem !== null) expect(parsed.problem.reason).not.toBe('');
    }),
    { numRuns: 500 },
  );
});

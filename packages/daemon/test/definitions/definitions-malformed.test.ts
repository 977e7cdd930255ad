import { definitionLimits } from '@pawl/core/definitions/definition-limit';
import type { Flavour } from '@pawl/core/definitions/parse';
import { parseDefinition } from '@pawl/core/definitions/parse';
import { expect, test } from 'vitest';
import { loadReadYaml } from '../../src/definitions/read-yaml.ts';

const readYaml = await loadReadYaml();

function parse(lines: string[], flavour: Flavour = 'pawl') {
  const text = ['---', ...lines, '---', 'Do it.'].join('\n');
  return parseDefinition(text, { path: '/r/agents/a.md', layer: 'repository', flavour, sha256: '' }, readYaml);
}

/** A text as long as a front matter may be. */
function filledWith(piece: string, before = '', after = ''): string {
  const room = definitionLimits.frontMatterBytes - before.length - after.length - 8;
  return before + piece.repeat(Math.floor(room / piece.length)) + after;
}

const bomb = [
  'a: &a [x, x, x, x, x]',
  'b: &b [*a, *a, *a, *a, *a]',
  'c: &c [*b, *b, *b, *b, *b]',
  'tools: [*c, *c, *c]',
];

test.each([
  ['a field twice', ['name: a', 'kind: main', 'name: b'], 4, '"name" is given twice'],
  ['a part of the policy twice', ['policy: {allow: [Patch], allow: []}'], 2, '"allow" is given twice'],
  ['a tab for indentation', ['name: a', 'policy:', '\tallow: []'], 4, 'not YAML'],
  ['a list that does not end', ['kind: main', 'tools: [Read'], 3, 'not YAML'],
  ['a colon in plain text', ['name: a', 'description: this: that'], 3, 'not YAML'],
  ['text where fields belong', ['just text'], 2, 'must be lines of the form'],
  ['a list where fields belong', ['- a', '- b'], 2, 'must be lines of the form'],
  ['a second document', ['name: a', '...', 'kind: main'], 4, 'there is text after the line that ends it'],
  ['a field whose name is a list', ['? [a, b]', ': c'], 2, 'not YAML'],
  ['an alias that multiplies', bomb, 3, 'alias'],
  ['an alias in itself', ['name: a', 'tools: &a [*a]'], 3, 'alias'],
  ['an alias of nothing', ['tools: *nothing'], 2, 'alias'],
  ['an unknown kind', ['name: a', 'kind: boss'], 3, '`kind` is "boss", but must be main or subagent'],
  ['a number for a name', ['name: 007'], 2, '`name` must be text'],
  ['a yes for tools', ['tools: true'], 2, '`tools` must be a list'],
  ['tools without a value', ['tools:', 'kind: main'], 2, '`tools` has no value'],
  ['a map for a description', ['description:', '  a: b'], 2, '`description` must be text'],
  ['brackets without end', [filledWith('[', 'a: ')], 1, 'nested too deeply'],
  ['braces without end', [filledWith('{a: ', 'a: ')], 1, 'nested too deeply'],
  ['lists in lists', [filledWith('- ')], 1, 'nested too deeply'],
  ['keys in keys', [filledWith('? ')], 1, 'nested too deeply'],
])('%s is reported with its line and reason [4.2.9]', (_, lines, line, reason) => {
  const parsed = parse(lines);
  expect(parsed).toMatchObject({ ok: false, problem: { path: '/r/agents/a.md', line } });
  expect(parsed.ok ? '' : parsed.problem?.reason).toContain(reason);
});

test.each([
  ['fields', Array.from({ length: 2_000 }, (_, index) => `k${index}:`).join('\n')],
  ['lists after each other', filledWith('[]', 'a: ')],
  ['closing and opening', filledWith('][', 'a: ')],
  ['anchors', filledWith('&a ', 'a: ')],
  ['tags', filledWith('!x ', 'a: ')],
  ['quotes', filledWith('"', 'a: ')],
  ['aliases', filledWith('*a, ', 'a: &a x\ntools: [', ']')],
  ['entries', filledWith('a,', 'tools: [', ']')],
  ['comments', filledWith('#\n')],
])('a front matter full of %s is scanned quickly', (_, text) => {
  const before = process.cpuUsage();
  expect(() => parse([text])).not.toThrow();
  // CPU time, not the clock, since other processes use the machine too. It takes a tenth of this.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
});

test('names of built-in object properties are ordinary fields', () => {
  const parsed = parse(['__proto__: {tools: ["*"]}', 'constructor: 1', 'toString: 2', 'name: a']);
  if (!parsed.ok) throw new Error(parsed.problem?.reason);
  expect(parsed.file.notices.map(({ line }) => line)).toEqual([2, 3, 4]);
  expect(parsed.file.definition.tools).toEqual(['Read', 'Glob', 'Grep']);
});

test('a few aliases, block text, comments and quotes are accepted', () => {
  const parsed = parse([
    '# who',
    'name: "Lead"   # the first',
    'description: >',
    '  Leads the',
    '  others.',
    'tools: &t',
    '  - Read',
    '  - Bash(git:*)',
    'disallowedTools: []',
    'policy:',
    '  allow: [Delegate]',
    '  delegate_targets: [Plan]',
  ]);
  if (!parsed.ok) throw new Error(parsed.problem?.reason);
  expect(parsed.file.definition).toMatchObject({
    id: 'lead',
    description: 'Leads the others.',
    tools: ['Read', 'Bash(git:*)'],
    policy: { allow: ['Delegate'], delegateTargets: ['plan'] },
  });
  expect(parsed.file.stated).toMatchObject({ name: 3, description: 4, tools: 7, 'policy.allow': 11 });
});

test('descriptions as people write them for Claude are accepted there', () => {
  const lines = [
    'name: code-reviewer',
    'description: Use it after a change. Examples:\\n<example>Context: a "bug" was fixed.</example>',
    'tools: Read, Grep, mcp__forge__*',
    'model: inherit',
    'color: blue',
  ];
  const parsed = parse(lines, 'claude');
  if (!parsed.ok) throw new Error(parsed.problem?.reason);
  expect(parsed.file.definition).toMatchObject({
    id: 'code-reviewer',
    kind: 'subagent',
    model: null,
    tools: ['Read', 'Grep', 'mcp__forge__*'],
    description: 'Use it after a change. Examples:\\n<example>Context: a "bug" was fixed.</example>',
  });
  expect(parsed.file.notices).toEqual([]);
  expect(parse(lines).ok).toBe(false);
});

import { accessLevels } from '@pawl/schema/access-level';
import { isWider } from '../../src/definitions/access.ts';
import type { Definition } from '@pawl/schema/definition';
import { agentActions } from '@pawl/schema/definition';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkDelegation, mayAct, mayUseTool } from '../../src/definitions/gate.ts';
import { extend } from '../../src/definitions/narrow.ts';
import { normalTools } from '../../src/definitions/tool-name.ts';
import { aDefinition, aFile, workAccess } from './fixture.ts';

const entries = [
  '*',
  'Read',
  'shell',
  'Bash(git:*)',
  'Bash(git log:*)',
  'Bash(git*)',
  'Bash(git status)',
  'Bash(npm test)',
].concat(['Write', 'mcp__forge', 'mcp__*', 'mcp__forge__merge', 'Custom']);
const tools = fc.subarray(entries.slice(1)).map(normalTools);
const someTools = fc.oneof({ weight: 1, arbitrary: fc.constant<string[]>(['*']) }, { weight: 4, arbitrary: tools });
const targets = ['plan', 'search', 'test'];
const globs = ['src/**', 'test/**', 'docs/**'];

const rights = {
  kind: fc.constantFrom('main' as const, 'subagent' as const),
  tools: someTools,
  deniedTools: tools,
  toolGate: fc.constantFrom('hard' as const, 'advisory' as const),
  access: fc.constantFrom(null, ...accessLevels),
  provider: fc.constantFrom(null, 'claude', 'other'),
  workGlobs: fc.subarray(globs),
  policy: fc.record({ allow: fc.subarray([...agentActions]), delegateTargets: fc.subarray(targets) }),
};
const whole = fc.record(rights).map((given) => aDefinition(given));
const stated = { ...rights, access: fc.constantFrom(...accessLevels) };
const part = fc.record(stated, { requiredKeys: [] }).map((given) => aFile('repository', given));

const calls = ['Read', 'Write', 'Custom', 'mcp__forge__merge', 'mcp__forge__list', 'mcp__other__list'];
const commands = [
  'git',
  'git log',
  'git log -1',
  'git status',
  'gitk',
  'git push',
  'npm test',
  'rm x',
  'git log; rm x',
  undefined,
];

/** All rights of a definition, as words. */
function rightsOf(definition: Definition): string[] {
  const canDelegate = (target: string): boolean => {
    try {
      checkDelegation(workAccess, { kind: definition.kind, definition }, target);
      return true;
    } catch {
      return false;
    }
  };
  return [
    ...calls.filter((name) => mayUseTool(definition, name)),
    ...commands.filter((command) => mayUseTool(definition, 'Bash', command)).map((command) => `Bash ${command}`),
    ...agentActions.filter((action) => mayAct(definition, action)),
    ...[...targets, 'root'].filter(canDelegate).map((target) => `delegate ${target}`),
    ...[...globs, 'elsewhere'].filter(
      (glob) => definition.workGlobs.length === 0 || definition.workGlobs.includes(glob),
    ),
    ...(definition.kind === 'main' ? ['main'] : []),
    ...(definition.toolGate === 'advisory' ? ['advisory'] : []),
    ...accessLevels.filter((level) => !isWider(level, definition.access ?? 'full')),
    `provider ${definition.provider}`,
  ];
}

test('narrowing never widens, whatever a repository’s file says [7.16]', () => {
  fc.assert(
    fc.property(whole, part, (base, file) => {
      const { definition } = extend(base, file, false);
      const before = rightsOf(base);
      expect(rightsOf(definition).filter((right) => !before.includes(right))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test('rights that a repository’s file leaves out are removed [7.16]', () => {
  fc.assert(
    fc.property(whole, part, (base, file) => {
      const { definition } = extend(base, file, false);
      const unwanted = [...calls].filter(
        (name) => file.stated.tools !== undefined && !mayUseTool(file.definition, name),
      );
      expect(unwanted.filter((name) => mayUseTool(definition, name))).toEqual([]);
      const actions = agentActions.filter((action) => !mayAct(file.definition, action));
      if (file.stated['policy.allow'] !== undefined) {
        expect(actions.filter((action) => mayAct(definition, action))).toEqual([]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a file without notices got all it asked for [7.16]', () => {
  const { deniedTools: _, ...grantable } = stated;
  const [first, ...others] = Object.entries(grantable).map(([name, right]) =>
    fc.record<Partial<Definition>>({ [name]: right }).map((given) => aFile('repository', given)),
  );
  if (first === undefined) throw new Error('no rights');
  let unheard = 0;
  fc.assert(
    fc.property(whole, fc.oneof(first, ...others), (base, file) => {
      const { definition, notices } = extend(base, file, false);
      if (notices.length > 0) return;
      unheard += 1;
      expect(rightsOf(definition).toSorted()).toEqual(rightsOf(extend(base, file, true).definition).toSorted());
    }),
    { numRuns: 1_000 },
  );
  expect(unheard).toBeGreaterThan(100);
});

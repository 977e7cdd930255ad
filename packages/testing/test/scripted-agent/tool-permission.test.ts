import { processorMs } from '../../src/processor-time.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseArguments } from '../../src/scripted-agent/arguments.ts';
import { allowsTool } from '../../src/scripted-agent/tool-permission.ts';
import { git } from '../../src/sample-repository.ts';
import { blocksOf, stage } from './agent-process.ts';

const names = ['Bash', 'Edit', 'Read', 'Write', 'mcp__x__get', 'mcp__xy__get', 'Bash2'];

test.each([
  [[], names],
  [['--tools', ''], []],
  [['--tools=*'], names],
  [
    ['--tools', 'Bash,Read'],
    ['Bash', 'Read'],
  ],
  [
    ['--allowedTools', 'Bash Read'],
    ['Bash', 'Read'],
  ],
  [
    ['--allowedTools', 'Bash', '--allowedTools', ' Read , '],
    ['Bash', 'Read'],
  ],
  [['--tools', 'Bash,Read', '--allowed-tools', 'Read,Write'], ['Read']],
  [
    ['--tools', 'Write'],
    ['Edit', 'Write'],
  ],
  [['--tools', 'Edit'], ['Edit']],
  [['--tools', 'mcp__x__*'], ['mcp__x__get']],
  [
    ['--tools', 'mcp__*__get'],
    ['mcp__x__get', 'mcp__xy__get'],
  ],
  [
    ['--tools', '*a*s*'],
    ['Bash', 'Bash2'],
  ],
  [['--tools', 'Bash**h'], []],
  [['--disallowedTools', ''], names],
  [['--disallowedTools', '*'], []],
  [
    ['--disallowedTools', 'Bash*,Write'],
    ['Read', 'mcp__x__get', 'mcp__xy__get'],
  ],
  [['--tools', 'Bash,Read', '--disallowed-tools', 'Bash'], ['Read']],
])('%j allows %j', (argv, allowed) => {
  const { permission } = parseArguments(argv);
  expect(names.filter((name) => allowsTool(permission, name))).toEqual(allowed);
});

test('a pattern with many stars is not slow', () => {
  const { permission } = parseArguments(['--tools', `${'a*'.repeat(5_000)}b`]);
  const spentMs = processorMs(() => expect(allowsTool(permission, 'a'.repeat(100_000))).toBe(false));
  expect(spentMs).toBeLessThan(1_000);
});

const needsTool: [step: unknown, tool: string][] = [
  [{ shell: 'touch done' }, 'Bash'],
  [{ commit: 'done' }, 'Bash'],
  ['read_inputs', 'Bash'],
  [{ mail: { to: 'calm-owl', body: 'hello' } }, 'Bash'],
  [{ pawl: ['ls'] }, 'Bash'],
  [{ fork_child: { seconds: 600 } }, 'Bash'],
  [{ write: { path: 'done', content: '' } }, 'Write'],
  [{ append: { path: 'done', content: '' } }, 'Edit'],
  [{ tool: { name: 'mcp__x__get', result: 'done', takes: '1h' } }, 'mcp__x__get'],
];

test('a step whose tool is not allowed shows its call and the refusal, does nothing, and the scenario goes on', async () => {
  await using on = await stage();
  const steps = [...needsTool.map(([step]) => step), { say: 'on' }, { complete: { summary: 'end' } }];
  const agent = await on.play(steps, { args: ['--tools', ''] });
  expect(agent.code).toBe(0);
  expect(agent.lines[0]?.['tools']).toEqual([]);
  expect(blocksOf(agent.lines, 'assistant').flatMap((block) => block['name'] ?? [])).toEqual(
    needsTool.map(([, tool]) => tool),
  );
  expect(agent.toolResults.map(({ content, is_error }) => [content, is_error])).toEqual(
    needsTool.map(([, tool]) => [`The tool ${tool} is not allowed. Go on without it.`, true]),
  );
  expect(agent.said).toEqual(['on', 'end']);
  expect(existsSync(join(on.directory, 'done'))).toBe(false);
  expect(await git(on.directory, ['log', '--format=%s'])).not.toContain('done');
});

test('an allowed tool works beside one that is not, and the first line names only what is allowed', async () => {
  await using on = await stage();
  const steps = [
    { write: { path: 'done', content: '' } },
    { shell: 'touch no' },
    { tool: { name: 'mcp__x__get', result: 'yes' } },
  ];
  const agent = await on.play(steps, { args: ['--allowedTools', 'Write,mcp__x__*'] });
  expect(agent.toolResults.map((result) => result.is_error)).toEqual([false, true, false]);
  expect(agent.lines[0]?.['tools']).toEqual(['Edit', 'Write']);
  expect([existsSync(join(on.directory, 'done')), existsSync(join(on.directory, 'no'))]).toEqual([true, false]);
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { stepSchemas } from '../../src/scripted-agent/step-schema.ts';
import { waitUntil } from '../../src/wait-until.ts';
import type { Stage } from './agent-process.ts';
import { stage, userTurn } from './agent-process.ts';

const page = readFileSync(fileURLToPath(new URL('../../../../docs/scripted-agent.md', import.meta.url)), 'utf8');
const examples = [...page.matchAll(/^```(\w+) (scenario|run) ?(\S*)\n(.*?)^```$/gms)].map((match) => ({
  kind: match[2] ?? '',
  expected: match[3] ?? '',
  text: match[4] ?? '',
  line: page.slice(0, match.index).split('\n').length,
}));

/** A `pawl` command that knows nothing but the scripted agent. */
async function installPawl(on: Stage): Promise<NodeJS.ProcessEnv> {
  const pawl = join(on.path, 'pawl');
  const lines = ['#!/bin/sh', '[ "$1" = scripted-agent ] || { echo "pawl $*"; exit 0; }', 'shift'];
  await writeFile(pawl, [...lines, `exec '${process.execPath}' '${on.program}' "$@"`, ''].join('\n'));
  await chmod(pawl, 0o755);
  return { PATH: `${on.path}:${process.env['PATH']}` };
}

test.each(examples.filter((example) => example.kind === 'scenario'))(
  'the scenario in line $line of the page plays as described',
  async ({ text, expected }) => {
    await using on = await stage();
    const path = join(on.path, 'example.yaml');
    await writeFile(path, text);
    await using agent = on.start(['--input-format', 'stream-json', '--scenario', path], await installPawl(on));
    const [what, value] = expected.split('=');
    for (let turn = 1; turn <= (what === 'turns' ? Number(value) : 1); turn += 1) {
      agent.child.stdin.write(userTurn(`turn ${turn}`));
    }
    agent.child.stdin.end();
    if (what === 'stop') {
      await waitUntil(
        () => readFileSync(join(on.state, `${agent.lines[0]?.session_id}.json`), 'utf8').includes('"next":1'),
        {
          what: 'the hang to begin',
        },
      );
      agent.child.kill('SIGTERM');
    }
    expect(await agent.exited).toEqual([what === 'exit' ? Number(value) : what === 'stop' ? 143 : 0, null]);
    expect(agent.stderr).toBe('');
    // No one answers its request for permission here.
    const refused = /\.pawl|permission stream closed/;
    if (!text.includes('garbage'))
      expect(agent.toolResults.filter((result) => result.is_error && !refused.test(result.content))).toEqual([]);
  },
);

test.each(examples.filter((example) => example.kind === 'run'))(
  'the commands in line $line of the page work',
  async ({ text }) => {
    await using on = await stage();
    const env = { ...on.environment, ...(await installPawl(on)) };
    const { stdout } = await promisify(execFile)('/bin/sh', ['-e', '-c', text], { cwd: on.directory, env });
    expect(stdout).toContain('"type":"result"');
  },
);

test('the page shows every step in an example', () => {
  const shown = examples.map((example) => example.text).join('\n');
  const missing = Object.keys(stepSchemas).filter((name) => !new RegExp(`^ *- ${name}\\b`, 'm').test(shown));
  expect(missing).toEqual([]);
  expect(examples.length).toBeGreaterThan(10);
});

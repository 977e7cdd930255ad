import { waitUntil } from '@pawl/testing/wait-until';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { mainFile, runCli } from '../../run-cli.ts';

/** The command in a process of its own, with what it printed so far. */
function start(words: string[]) {
  const child = spawn(process.execPath, [mainFile, 'dev', 'model-server', ...words]);
  const left = once(child, 'exit') as Promise<[number | null]>;
  const printed = { text: '' };
  child.stdout.on('data', (part: Buffer) => (printed.text += part.toString()));
  return {
    child,
    left,
    printed,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await left;
    },
  };
}

const isUp = async (url: string) => (await fetch(url)).ok;

test('prints the URL and the settings of each CLI, serves, and leaves nothing behind when it is killed', async () => {
  await using command = start(['--scenario', 'text', '--json']);
  const line = await waitUntil(() => /^(.*)\n/.exec(command.printed.text)?.[1], { what: 'the answer' });
  const { kind, data } = JSON.parse(line) as { kind: string; data: { url: string; clients: { cli: string }[] } };
  expect(kind).toBe('model-server');
  expect(data.clients.map(({ cli }) => cli)).toContain('claude');
  expect(await isUp(data.url)).toBe(true);
  command.child.kill('SIGKILL');
  await command.left;
  await waitUntil(
    () =>
      isUp(data.url)
        .then(() => false)
        .catch(() => true),
    { what: 'the end of the server' },
  );
});

test('prints lines to type, and exits with 143 on SIGTERM', async () => {
  await using command = start([]);
  const url = await waitUntil(() => /listens at (http:\S+)/.exec(command.printed.text)?.[1], { what: 'the URL' });
  expect(command.printed.text).toContain(`ANTHROPIC_BASE_URL=${url}`);
  command.child.kill('SIGTERM');
  expect((await command.left)[0]).toBe(143);
});

test('an unknown scenario is refused with the known ones', async () => {
  const { code, stderr } = await runCli(['dev', 'model-server', '--scenario', 'no-such']);
  expect(code).toBe(3);
  expect(stderr).toContain('limit-reset');
});

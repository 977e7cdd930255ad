import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Report } from '../../src/model-server/main.ts';
import { temporaryDirectory } from '../../src/temporary.ts';
import { waitUntil } from '../../src/wait-until.ts';

const program = fileURLToPath(new URL('../../../../dist/model-server.mjs', import.meta.url));

/** Starts the program with a channel, as the command line does, and waits for its report. */
async function start(words: string[]) {
  const child = fork(program, words, { stdio: 'ignore' });
  const [report] = (await once(child, 'message')) as [Report];
  const left = once(child, 'exit') as Promise<[number | null]>;
  return {
    child,
    report,
    left,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await left;
    },
  };
}

async function say(url: string): Promise<string> {
  const message = { role: 'user', content: 'Hello' };
  const body = JSON.stringify({ messages: [message] });
  return (await fetch(`${url}/v1/messages`, { method: 'POST', body })).text();
}

test('prints its URL and the settings of each CLI, plays a file, and exits with its parent', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'scenario.yaml');
  await writeFile(path, 'steps:\n  - say: From a file.\n');
  await using server = await start(['--scenario', path]);
  const { report } = server;
  if (!report.ok) throw new Error(report.message);
  expect(report.clients.map(({ cli }) => cli)).toEqual(['claude', 'codex', 'gemini', 'opencode', 'qwen', 'pi']);
  for (const { lines } of report.clients) expect(lines.join('\n')).toContain(report.url);
  expect(await say(report.url)).toContain('From a file.');
  server.child.disconnect();
  expect((await server.left)[0]).toBe(0);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends it with %d, without a channel too', async (signal, code) => {
  const child = spawn(process.execPath, [program, '--scenario', 'text'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
  const left = once(child, 'exit');
  const url = await waitUntil(() => /^http:\S+/.exec(printed)?.[0], { what: 'the URL' });
  expect(await say(url)).toContain('Here is the answer.');
  child.kill(signal);
  expect((await left)[0]).toBe(code);
});

test.each([
  [['--port', '99999'], 'usage', 2],
  [['--nonsense'], 'usage', 2],
  [['--scenario', 'no-such'], 'not_found', 3],
])('%j is refused', async (words, code, exit) => {
  await using server = await start(words);
  expect(server.report).toMatchObject({ ok: false, code });
  expect((await server.left)[0]).toBe(exit);
});

test('a broken scenario file and a port in use are refused with the reason', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'broken.json');
  await writeFile(path, '{"steps":[{"jump":1}]}');
  await using broken = await start(['--scenario', path]);
  expect(broken.report).toMatchObject({ ok: false, code: 'invalid_input' });
  await using first = await start([]);
  if (!first.report.ok) throw new Error(first.report.message);
  await using second = await start(['--port', String(first.report.port)]);
  expect(second.report).toMatchObject({ ok: false, code: 'unavailable' });
  expect(JSON.stringify(second.report)).toContain('EADDRINUSE');
});

test('the lines of the set-up are a shell’s', async () => {
  const { clientSetups } = await import('../../src/model-server/client-setup.ts');
  for (const { lines } of clientSetups('http://127.0.0.1:1')) {
    const child = execFile('sh', ['-n'], () => {});
    child.stdin?.end(lines.join('\n'));
    expect((await once(child, 'exit'))[0]).toBe(0);
  }
});

import { newId } from '@pawl/schema/id';
import { grantFormat, sessionToken } from '@pawl/schema/proxy';
import { startModelServer } from '@pawl/testing/model-server/server';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measure } from '../measure.ts';
import { programPaths } from '../program.ts';
import { alternate, median } from '../statistics.ts';

const key = 'sk-bench-0123456789';
const body = JSON.stringify({
  model: 'm',
  max_tokens: 9,
  stream: true,
  messages: [{ role: 'user', content: 'Hello '.repeat(4_000) }],
});

/** Time to the first byte of a streamed answer through the proxy, against the same call without it. */
export const firstToken: Measure = {
  name: 'first-token',
  async run({ quick }) {
    await using place = await temporaryDirectory('pawl-bench');
    await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
    const token = await grant(place.path, model.url);
    const directory = join(place.path, 'proxy');
    const words = [programPaths.proxy, 'serve', directory, join(place.path, 'proxy.sock')];
    const proxy = spawn(process.execPath, words, { stdio: 'ignore' });
    try {
      const { port } = await waitUntil(
        () => JSON.parse(readFileSync(join(directory, 'proxy.json'), 'utf8')) as { port: number },
        { what: 'the proxy' },
      );
      const { ours, floor } = await alternate(quick ? 30 : 300, {
        ours: () => firstByteMs(`http://127.0.0.1:${port}`, token),
        floor: () => firstByteMs(model.url, key),
      });
      const aims = [{ of: 'value' as const, atMost: 20 }];
      return [
        { measure: 'first token through the proxy', value: median(ours), unit: 'ms', floor: median(floor), aims },
      ];
    } finally {
      proxy.kill('SIGKILL');
    }
  },
};

/** Lets a session without a process use the proxy; returns its token. */
async function grant(root: string, server: string): Promise<string> {
  const sessionId = newId();
  const secretFile = join(root, 'secret.json');
  await mkdir(join(root, 'proxy', 'sessions'), { recursive: true });
  await writeFile(secretFile, JSON.stringify({ env: { KEY: key } }), { mode: 0o600 });
  const token = sessionToken(sessionId, randomBytes(32).toString('base64url'));
  const tokenHash = createHash('sha256').update(token).digest('hex');
  const upstream = { baseUrl: server, secretFile, variable: 'KEY' };
  const content = { format: grantFormat, sessionId, tokenHash, directory: root, upstream, tokens: null, network: null };
  await writeFile(join(root, 'proxy', 'sessions', `${sessionId}.json`), JSON.stringify(content), { mode: 0o600 });
  return token;
}

async function firstByteMs(server: string, secret: string): Promise<number> {
  const beganMs = performance.now();
  const headers = { 'x-api-key': secret, 'content-type': 'application/json' };
  const answer = await fetch(`${server}/v1/messages`, { method: 'POST', headers, body });
  const reader = answer.body?.getReader();
  await reader?.read();
  const tookMs = performance.now() - beganMs;
  while ((await reader?.read())?.done === false);
  return tookMs;
}

import type { Client, createClient } from '@pawl/protocol/client';
import type { fetchTransport } from '@pawl/protocol/fetch-transport';
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';

type Bundle = { createClient: typeof createClient; fetchTransport: typeof fetchTransport };

/** Everything that the client may use beside the language itself. */
const webGlobals = {
  AbortController,
  AbortSignal,
  clearTimeout,
  fetch,
  Request,
  setTimeout,
  TextDecoder,
  URL,
  URLSearchParams,
};

/** The client as one script for browsers. A module of Node would fail the build. */
async function bundleForBrowsers(): Promise<string> {
  const contents = `
    export { createClient } from '@pawl/protocol/client';
    export { fetchTransport } from '@pawl/protocol/fetch-transport';
  `;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'pawl',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

test('the client runs in a browser: it lists agents, sends mail and follows events over fetch', async () => {
  const context = createContext({ ...webGlobals });
  const script = await bundleForBrowsers();
  const { createClient: create, fetchTransport: transport } = runInContext(`${script}; pawl`, context) as Bundle;
  expect(runInContext('typeof process + typeof Buffer + typeof require', context)).toBe('undefined'.repeat(3));

  await using daemon = await startTestDaemon();
  const token = readFileSync(daemon.home.token, 'utf8').trim();
  const client: Client = create(transport({ url: `http://127.0.0.1:${daemon.port}`, token }));
  const agent = await daemon.work(['complete']);
  expect((await client.listAgents()).agents.map(({ id }) => id)).toContain(agent.id);

  const leaving = new AbortController();
  let sent: string | undefined;
  for await (const message of client.followEvents(0, {}, leaving.signal)) {
    if (message.type !== 'event') continue;
    const { type, agentId, data } = message.event;
    if (type === 'agent.forked' && agentId === agent.id)
      sent = (await client.sendMail({ to: agent.id, body: 'hello' }, 'key-of-the-browser')).mails[0]?.id;
    if (type === 'mail.sent' && data['mailId'] === sent) leaving.abort();
  }
  expect(leaving.signal.aborted).toBe(true);

  const stranger = create(transport({ url: `http://127.0.0.1:${daemon.port}` }));
  await expect(stranger.listAgents()).rejects.toMatchObject({ code: 'unauthorized' });
});

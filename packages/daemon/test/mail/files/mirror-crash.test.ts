import { homeAt } from '@pawl/protocol/node/home';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readyDaemon } from '../../support/daemon-process.ts';
import { allEvents } from '../../support/mail.ts';
import type { RestingAgent } from '../../support/resting-agents.ts';
import { restingAgents } from '../../support/resting-agents.ts';

/** A daemon that will be killed at a point, with a project `sample` and two agents at rest. */
async function begun(path: string, crashAt: CrashPoint) {
  const home = homeAt(join(path, 'home'));
  await sampleRepository(join(path, 'sample'));
  const first = await readyDaemon(home.root, { crashAt });
  await first.client.addProject({ path: join(path, 'sample') });
  const agents = await restingAgents(home, [{ alias: 'calm-fox' }, { alias: 'old-owl' }]);
  const box = join(home.messages, 'sample', 'old-owl');
  return { home, first, box, agents: agents as [RestingAgent, RestingAgent] };
}

test('a daemon that dies at mirror.after_file, before saving its position, writes the file again, once [fault 3]', async () => {
  await using place = await temporaryDirectory();
  const { home, first, box, agents } = await begun(place.path, 'mirror.after_file');
  const [fox] = agents;
  const key = randomUUID();
  const sent = await fox.client.sendMail({ to: 'old-owl', body: 'hello' }, key);
  expect((await first.exited).signal).toBe('SIGKILL');
  const name = `${sent.mails[0]?.id}.json`;
  expect(readdirSync(box)).toEqual([name]);
  // The content of the file does not matter.
  writeFileSync(join(box, name), '{}');
  const second = await readyDaemon(home.root);
  try {
    expect((await fox.client.sendMail({ to: 'old-owl', body: 'hello' }, key)).mails[0]?.id).toBe(sent.mails[0]?.id);
    await waitUntil(() => readFileSync(join(box, name), 'utf8').includes('"status": "pending"'), { what: 'the file' });
    expect(readdirSync(box)).toEqual([name]);
    expect((await allEvents(second.client)).filter(({ type }) => type === 'mail.sent')).toHaveLength(1);
  } finally {
    await second.kill('SIGTERM');
  }
});

test('a daemon that dies at mirror.after_import, before removing the file, imports it once [fault 3]', async () => {
  await using place = await temporaryDirectory();
  const { home, first, box, agents } = await begun(place.path, 'mirror.after_import');
  const [, owl] = agents;
  mkdirSync(box, { recursive: true });
  writeFileSync(join(box, 'dropped.json'), JSON.stringify({ from: 'calm-fox', body: 'from outside' }));
  expect((await first.exited).signal).toBe('SIGKILL');
  expect(existsSync(join(box, 'dropped.json'))).toBe(true);
  const second = await readyDaemon(home.root);
  try {
    await waitUntil(() => !existsSync(join(box, 'dropped.json')), { what: 'the file to be gone' });
    const { mails } = await owl.client.fetchMail();
    expect(mails.map(({ body }) => body)).toEqual([expect.stringContaining('from outside')]);
    await waitUntil(() => readdirSync(box).includes(`${mails[0]?.id}.json`), { what: 'its copy' });
    expect((await allEvents(second.client)).filter(({ type }) => type === 'mail.sent')).toHaveLength(1);
  } finally {
    await second.kill('SIGTERM');
  }
});

import type { AgentView } from '@pawl/protocol/agents/view';
import type { MailList, MailsAnswer, MailView, Waited } from '@pawl/protocol/mail/view';
import { endurance } from '@pawl/testing/endurance';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Workplace } from './support/pawl.ts';
import { workplace } from './support/pawl.ts';

let place: Workplace;
let repository: string;
beforeAll(async () => {
  place = await workplace();
  repository = join(place.path, 'shop');
  await sampleRepository(repository);
  await place.json(['init'], { cwd: repository });
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
});

/** A stopped agent: its mail waits until it is resumed. */
async function stopped(): Promise<AgentView> {
  const scenario = join(place.path, 'hang.json');
  writeFileSync(scenario, JSON.stringify({ steps: ['hang'] }));
  const words = ['work', 'rest', '--provider', 'scripted', '--option', `scenario=${scenario}`];
  const agent = await place.json<AgentView>(words, { cwd: repository });
  await place.json(['stop', agent.id]);
  return agent;
}

test('a person sends, lists, reads and waits; only the recipient acknowledges [S1-25…28, S4-15…17]', async () => {
  const agent = await stopped();
  const { mails } = await place.json<MailsAnswer>(['agent', 'send-message', agent.alias, 'a word']);
  expect(mails[0]).toMatchObject({
    status: 'pending',
    from: { alias: 'root' },
    detail: `queued: ${agent.alias} was stopped; it is delivered when it resumes`,
  });
  const file = join(place.home, 'messages', 'shop', agent.alias, `${mails[0]?.id}.json`);
  await waitUntil(
    () => {
      try {
        return readFileSync(file, 'utf8').includes('"status": "pending"');
      } catch {
        return false;
      }
    },
    { what: 'the file of the mail' },
  );
  expect((await place.pawl(['wait', '0'])).code).toBe(5);
  const looked = await place.json<MailList>(['mail', '--agent', agent.alias]);
  expect(looked.mails.map(({ body, status }) => [body, status])).toEqual([['a word', 'pending']]);
  const long = 'x'.repeat(5_000);
  const sent = await place.pawl(['send', agent.alias, '-', '--json'], { input: long });
  expect(sent.code).toBe(0);
  const id = (JSON.parse(sent.stdout) as { data: MailsAnswer }).data.mails[0]?.id ?? '';
  expect((await place.json<{ mail: MailView }>(['read', id])).mail).toMatchObject({ body: long, status: 'pending' });
  expect((await place.pawl(['ack', id])).code).toBe(8);
  expect((await place.pawl(['send', 'nobody-there', 'x'])).code).toBe(3);
  expect((await place.json<Waited>(['wait', '5', agent.alias])).agents).toMatchObject([{ state: 'idle' }]);
  expect((await place.json<MailList>(['check-mail'])).mails).toEqual([]);
});

const commands = endurance({ whole: 50, small: 12 });
test(`${commands} commands at one instant to two agents: each exits 0, and each mail is there once, at the right one [fault 25]`, async () => {
  const two = [await stopped(), await stopped()];
  const outcomes = await Promise.all(
    Array.from({ length: commands }, (_, number) =>
      place.pawl(['send', two[number % 2]?.alias ?? '', `number ${number}`]),
    ),
  );
  expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual(outcomes.map(() => [0, '']));
  for (const [index, agent] of two.entries()) {
    const { mails } = await place.json<MailList>(['mail', '--agent', agent.alias]);
    const numbers = mails.map(({ body }) => Number(body.replace('number ', ''))).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: commands / 2 }, (_, each) => each * 2 + index));
  }
});

test('the commands in docs/mail.md work', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'mail.md'), 'utf8');
  const lines = [...page.matchAll(/```sh run\n([^]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) {
    const [program, ...words] = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
    expect(program).toBe('pawl');
    const { code, stderr } = await place.pawl(words, { cwd: repository });
    expect([line, code, stderr]).toEqual([line, 0, '']);
  }
});

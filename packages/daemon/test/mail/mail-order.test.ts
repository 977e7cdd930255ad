import type { Client } from '@pawl/protocol/client';
import { homeAt } from '@pawl/protocol/node/home';
import { limits } from '@pawl/schema/limit';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { runEnded, viewOf, writeScenario } from '../support/daemon.ts';
import { markdown } from '../support/definitions.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { toldTo } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

/** The states of recipients while mail is sent to them. */
const states = ['running', 'stopped', 'idle', 'fetching', 'conversing'] as const;
type State = (typeof states)[number];
const senders = ['person', 'ant', 'bee'] as const;
type Sender = (typeof senders)[number];

type Burst = { from: Sender; to: State; count: number; killsDaemon: boolean };

const bursts = fc.array(
  fc.record({
    from: fc.constantFrom(...senders),
    to: fc.constantFrom(...states),
    // Less than a turn holds, just more, and so much that two senders together need several turns.
    count: fc.constantFrom(1, 3, 7, limits.mailPerTurn - 5, limits.mailPerTurn + 2),
    killsDaemon: fc.boolean(),
  }),
  { minLength: 3, maxLength: 6 },
);

const again = { repeat: { times: 60, steps: [{ say: 'again' }, 'complete'] } };

/** A home with its own daemon, and one recipient in each state. */
async function aTeam(path: string) {
  const [home, repository] = [join(path, 'home'), join(path, 'sample')];
  await sampleRepository(repository);
  mkdirSync(join(repository, '.pawl', 'agents'), { recursive: true });
  const definition = { kind: 'main', class: 'persistent', mail: 'pull', tools: ['*'] };
  writeFileSync(join(repository, '.pawl', 'agents', 'fetcher.md'), markdown(definition));
  let daemon = await readyDaemon(home);
  const { client } = daemon;
  await client.addProject({ path: repository });
  const work = async (steps: unknown[], body: { mode?: 'converse'; definition?: string } = {}) => {
    const options = { scenario: await writeScenario(path, steps) };
    const request = { path: repository, task: 'a task', provider: 'scripted', options, ...body };
    return (await client.work(request, randomUUID())).agent.id;
  };
  const hanging = async () => {
    const id = await work([{ say: 'standing by' }, { hang: { once: true } }, again]);
    await outputHas(client, id, 'standing by');
    return id;
  };
  const rested = async (body?: { mode?: 'converse'; definition?: string }) =>
    (await runEnded(client, await work([{ say: 'first' }, 'complete', again], body))).id;
  const recipients: Record<State, string> = {
    running: await hanging(),
    stopped: await hanging(),
    idle: await rested(),
    fetching: await rested({ definition: 'fetcher' }),
    conversing: await rested({ mode: 'converse' }),
  };
  // Mail collects while its recipient is stopped, so that more waits than one turn holds.
  for (const state of ['stopped', 'conversing', 'fetching'] as const) await client.stopAgent(recipients[state]);
  const as: Record<Sender, Client> = {
    person: client,
    ant: agentClient(homeAt(home), await hanging()),
    bee: agentClient(homeAt(home), await hanging()),
  };
  return {
    client,
    recipients,
    as,
    async crash() {
      await daemon.kill('SIGKILL');
      daemon = await readyDaemon(home);
    },
    async [Symbol.asyncDispose]() {
      for (const { id } of (await client.listAgents()).agents) await client.stopAgent(id);
      await daemon.kill('SIGTERM');
    },
  };
}

async function play(plan: readonly Burst[]): Promise<void> {
  await using place = await temporaryDirectory();
  await using team = await aTeam(place.path);
  const { client, recipients, as } = team;
  const sent = new Map<State, string[]>(states.map((state) => [state, []]));
  for (const { from, to, count, killsDaemon } of plan) {
    for (let index = 0; index < count; index++) {
      const mark = `${from} ${sent.get(to)?.length ?? 0}`;
      const key = randomUUID();
      if (killsDaemon && index === Math.floor(count / 2)) await team.crash();
      await as[from].sendMail({ to: recipients[to], body: `${mark}»` }, key);
      sent.get(to)?.push(mark);
    }
  }
  for (const state of states) {
    const id = recipients[state];
    // Mail between agents waits for a recipient that fetches its mail.
    const expected = (sent.get(state) ?? []).filter((mark) => state !== 'fetching' || mark.startsWith('person'));
    let shown: string[] = [];
    const isSettled = async () => {
      shown = await toldTo(client, id, /(?:person|ant|bee) \d+(?=»)/g);
      if (expected.every((mark) => shown.includes(mark))) return true;
      const { run, activity } = await viewOf(client, id);
      // Ordinary mail starts only so many turns in an hour; a person may start another.
      if (run?.status !== 'running' && activity !== 'running')
        await client.resumeAgent(id, {}, randomUUID()).catch(() => null);
      return false;
    };
    await waitUntil(isSettled, { what: `all mail to the ${state} agent` });
    expect(shown.toSorted(), `each mail once to the ${state} agent`).toEqual([...new Set(shown)].toSorted());
    for (const from of senders) {
      const mine = (marks: string[]) => marks.filter((mark) => mark.startsWith(from));
      expect(mine(shown), `${from} to the ${state} agent`).toEqual(mine(expected));
    }
  }
}

/** The limit of one turn falls in the middle of the person's mail. */
const flood: Burst[] = [
  { from: 'ant', to: 'stopped', count: limits.mailPerTurn - 5, killsDaemon: false },
  { from: 'person', to: 'stopped', count: 10, killsDaemon: true },
];

test('any senders, any number, any states, and a killed daemon: each sender’s mail is shown once and in order [fault 25]', async () => {
  // A failure prints the seed that reproduces it.
  await fc.assert(
    fc.asyncProperty(bursts, (random) => play([...flood, ...random])),
    { numRuns: 1, endOnFailure: true },
  );
});

import { strayProcesses } from '@pawl/host/session/stray';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import { homeAt } from '@pawl/protocol/node/home';
import type { Event } from '@pawl/schema/event';
import { endurance, seededRandom } from '@pawl/testing/endurance';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runEnded, writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { outputDifferences } from '../support/output.ts';

const agents = endurance({ whole: 20, small: 8 });
const kills = endurance({ whole: 10, small: 3 });
const random = seededRandom();

test(
  `${agents} agents talk while the daemon is killed ${kills} times: nothing is lost, doubled or forgotten [S4-30, S4-31, 5.2.4, 8.11]`,
  { timeout: 300_000 },
  async () => {
    await using place = await temporaryDirectory();
    const home = join(place.path, 'home');
    const repository = join(place.path, 'sample');
    await sampleRepository(repository);
    const scenario = await writeScenario(place.path, [
      { repeat: { times: 60, steps: [{ say: 'line {n} of {agent}' }, { sleep: '60ms' }] } },
      { write: { path: 'a.txt', content: 'a' } },
      { commit: 'a' },
      'complete',
    ]);
    let daemon = await readyDaemon(home);
    await daemon.client.addProject({ path: repository });
    const body = { path: repository, task: 'talk', provider: 'scripted', options: { scenario } };
    const started = await Promise.all(
      Array.from({ length: agents }, async () => (await daemon.client.work(body, randomUUID())).agent),
    );
    const follower = followEvents(homeClient(homeAt(home)));

    const killedAt: number[] = [];
    for (let count = 0; count < kills; count++) {
      // The moment is what the test varies; nothing is awaited.
      await delay(20 + random() * 300);
      killedAt.push((await daemon.client.daemon()).lastSeq);
      await daemon.kill();
      daemon = await readyDaemon(home);
    }

    try {
      for (const { id } of started)
        expect((await runEnded(daemon.client, id)).run).toMatchObject({ status: 'completed' });
      for (const { id } of started) {
        const { sessions } = await daemon.client.inspectAgent(id);
        expect(sessions).toHaveLength(1);
        expect(strayProcesses(sessions[0]?.id ?? '')).toEqual([]);
        expect(await outputDifferences(daemon.client, id)).toEqual([]);
      }
      const { lastSeq } = await daemon.client.daemon();
      await waitUntil(() => (follower.events.at(-1)?.seq ?? 0) >= lastSeq, {
        what: 'the follower to catch up',
      });
      expect(follower.gaps).toBe(0);
      expect(follower.events.map((event) => event.seq)).toEqual(
        Array.from({ length: lastSeq }, (_, index) => index + 1),
      );
      expect(killedAt.every((seq, index) => index === 0 || seq > (killedAt[index - 1] ?? 0))).toBe(true);
    } finally {
      follower.stop();
      await daemon.kill('SIGTERM');
    }
  },
);

/** Follows the event log from the beginning, and resumes by the last id whenever the daemon dies. */
function followEvents(client: Client) {
  const stopping = new AbortController();
  const follower = { events: [] as Event[], gaps: 0, stop: () => stopping.abort() };
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        for await (const message of client.followEvents(follower.events.at(-1)?.seq ?? 0, {}, stopping.signal)) {
          if (message.type === 'gap') follower.gaps++;
          else follower.events.push(message.event);
        }
      } catch {
        await delay(5);
      }
    }
  };
  void run();
  return follower;
}

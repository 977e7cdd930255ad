import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { plainDatabase } from '../floor.ts';
import type { Measure } from '../measure.ts';
import type { Place } from '../place.ts';
import { makePlace } from '../place.ts';
import { median, quantile, timed } from '../statistics.ts';
import { followDeliveries } from './mail-deliveries.ts';

/** From sending a mail until a follower sees that an agent in the middle of a turn has it. */
export const mail: Measure = {
  name: 'mail',
  async run({ quick }) {
    const count = quick ? 50 : 300;
    await using place = await makePlace();
    await place.startDaemon();
    await place.addRepository(10);
    const agentId = await liveAgent(place);
    using deliveries = await followDeliveries(place.client);
    using plain = floorIn(place);
    const [sent, commits]: [number[], number[]] = [[], []];
    const oneMail = async (text: string): Promise<number> => {
      const start = performance.now();
      const { mails } = await place.client.sendMail({ to: agentId, body: text }, randomUUID());
      return (await deliveries.timeOf(mails[0]?.id ?? '')) - start;
    };
    // The first requests of a new process are slow for other reasons.
    for (let round = 0; round < 20; round++) await oneMail('warming up');
    for (let round = 0; round < count; round++) {
      sent.push(await oneMail(`This is mail ${round}: the parser is ready, and its tests pass.`));
      commits.push(await timed(() => plain.insert()));
    }
    const floor = median(commits);
    const note = 'floor: one commit';
    const row = (measure: string, part: number, atMost: number) => ({
      measure,
      value: quantile(sent, part),
      unit: 'ms',
      floor,
      aims: [{ of: 'value' as const, atMost }],
      note,
    });
    return [row('mail → delivered, p50', 0.5, 10), row('mail → delivered, p99', 0.99, 100)];
  },
};

/** An agent that stays in the middle of a turn. */
export async function liveAgent(place: Place): Promise<string> {
  const agent = await place.work(await place.scenario([{ say: 'standing by' }, 'hang']));
  await waitUntil(
    async () => (await place.client.output(agent.id)).chunks.some(({ content }) => content?.includes('standing by')),
    { timeoutMs: 60_000, what: `${agent.id} to be in its turn` },
  );
  return agent.id;
}

function floorIn(place: Place) {
  const plain = plainDatabase(join(place.path, 'plain.db'));
  return { insert: () => plain.insert(), [Symbol.dispose]: () => plain.close() };
}

import { inheritance } from '@pawl/daemon/agents/inheritance';
import { newId } from '@pawl/schema/id';
import type { Agent, Message } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { replay } from '@pawl/store/sessions/history';
import { appendMessage, messageOf } from '@pawl/store/sessions/messages';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { agentRecord, openStoreAt } from '../fabricate.ts';
import type { Measure } from '../measure.ts';
import type { Row } from '../report.ts';
import { alternate, median, timed } from '../statistics.ts';

const page = 1_000;
const perWrite = 1_000;
const everything = Number.MAX_SAFE_INTEGER;
const text = 'A message of the length that people and models write, more often than not. '.repeat(4);

/** A long lineage over a long history: the agents to fork and read, and one with everything in one piece. */
type Lineage = { root: Agent; leaf: Agent; flat: Agent };

/** The cost of forking a long history, and of reading a long lineage. */
export const history: Measure = {
  name: 'history',
  async run({ quick, progress }) {
    const size = quick ? { messages: 2_000, forks: 200 } : { messages: 10_000, forks: 1_000 };
    await using directory = await temporaryDirectory('pawl-bench');
    const store = await openStoreAt(directory.path);
    try {
      progress(`${size.forks} forks over ${size.messages} messages`);
      const lineage = await addLineage(store, size);
      progress('reading');
      const read = await replayRows(store, lineage, size, quick ? 10 : 20);
      progress('forking');
      return [...(await forkRows(store, lineage, size, quick ? 100 : 500)), ...read];
    } finally {
      await store.close();
    }
  },
};

type Size = { messages: number; forks: number };

async function forkRows(store: Store, { root, leaf }: Lineage, size: Size, rounds: number): Promise<Row[]> {
  const fork = (parent: Agent) => timed(() => store.write((tx) => forkRow(tx, parent)));
  const { long, deep, empty } = await alternate(rounds, {
    long: () => fork(root),
    deep: () => fork(leaf),
    empty: async () => {
      const agent = lineageAgent(null, 0);
      await store.write((tx) => insertAgent(tx, agent));
      return fork(agent);
    },
  });
  const rowOf = (measure: string, times: number[]): Row => ({
    measure,
    value: median(times),
    unit: 'ms',
    floor: median(empty),
    aims: [{ of: 'ratio', atMost: 1.2 }],
    note: 'floor: fork of an empty agent',
  });
  return [
    rowOf(`fork of ${size.messages.toLocaleString('en-US')} messages`, long),
    rowOf(`fork after ${size.forks.toLocaleString('en-US')} forks`, deep),
  ];
}

async function replayRows(store: Store, { leaf, flat }: Lineage, size: Size, rounds: number): Promise<Row[]> {
  const expected = size.messages + size.forks;
  const all = (read: () => Promise<number>) =>
    timed(async () => {
      const count = await read();
      if (count !== expected) throw new Error(`${count} messages were read, not ${expected}`);
    });
  const { whole, wholeFlat, paged, pagedFlat } = await alternate(rounds, {
    whole: () => all(async () => (await replay(store.db, leaf.id, { limit: everything })).length),
    wholeFlat: () => all(async () => (await readFlat(store, flat, 0, everything)).length),
    paged: () => all(() => countPages((afterId) => replay(store.db, leaf.id, { afterId, limit: page }))),
    pagedFlat: () => all(() => countPages((afterId) => readFlat(store, flat, afterId, page))),
  });
  const rowOf = (how: string, times: number[], floor: number[]): Row => ({
    measure: `replay after ${size.forks.toLocaleString('en-US')} forks, ${how}`,
    value: median(times),
    unit: 'ms',
    floor: median(floor),
    aims: [{ of: 'ratio', atMost: 2 }],
    note: `floor: ${expected.toLocaleString('en-US')} messages of one agent`,
  });
  return [rowOf('whole', whole, wholeFlat), rowOf(`pages of ${page.toLocaleString('en-US')}`, paged, pagedFlat)];
}

/** Builds the lineage interleaved with as many messages of another agent. */
async function addLineage(store: Store, size: Size): Promise<Lineage> {
  const [root, flat, stranger] = [lineageAgent(null, 0), lineageAgent(null, 0), lineageAgent(null, 0)];
  await store.write(async (tx) => {
    for (const agent of [root, flat, stranger]) await insertAgent(tx, agent);
  });
  await inBatches(store, size.messages, async (tx) => {
    for (const agentId of [root.id, stranger.id]) await appendMessage(tx, { agentId, kind: 'user', content: text });
  });
  let leaf = root;
  await inBatches(store, size.forks, async (tx) => {
    leaf = await forkRow(tx, leaf);
    await appendMessage(tx, { agentId: stranger.id, kind: 'user', content: text });
  });
  const messages = await replay(store.db, leaf.id, { limit: everything });
  await inBatches(store, messages.length, async (tx, index) => {
    const message = messages[index];
    if (message === undefined) throw new Error('the history is shorter than it was');
    for (const agentId of [flat.id, stranger.id]) await appendMessage(tx, { ...message, agentId });
  });
  return { root, leaf, flat };
}

/** The rows of a fork: the child, a `fork` message on both sides, and the event. */
async function forkRow(tx: WriteTransaction, parent: Agent): Promise<Agent> {
  const { messageId: forkMessageId } = await inheritance(tx.db, parent);
  const child = lineageAgent(parent, forkMessageId);
  await insertAgent(tx, child);
  const message = { kind: 'fork', content: '' } as const;
  await appendMessage(tx, { ...message, agentId: parent.id, data: { childId: child.id, forkMessageId } });
  await appendMessage(tx, { ...message, agentId: child.id, data: { parentId: parent.id, forkMessageId } });
  const { alias, definition, provider, branch } = child;
  tx.emit({
    type: 'agent.forked',
    agentId: child.id,
    data: { alias, parentId: parent.id, definition, provider, branch, forkMessageId },
  });
  return child;
}

async function readFlat(store: Store, agent: Agent, afterId: number, limit: number): Promise<Message[]> {
  const rows = await store.db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agent.id)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(messageOf);
}

async function countPages(read: (afterId: number) => Promise<Message[]>): Promise<number> {
  let count = 0;
  for (let afterId = 0; ;) {
    const messages = await read(afterId);
    count += messages.length;
    if (messages.length < page) return count;
    afterId = messages.at(-1)?.id ?? everything;
  }
}

async function inBatches(
  store: Store,
  count: number,
  work: (tx: WriteTransaction, index: number) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < count; first += perWrite) {
    await store.write(async (tx) => {
      for (let index = first; index < Math.min(count, first + perWrite); index++) await work(tx, index);
    });
  }
}

function lineageAgent(parent: Agent | null, forkMessageId: number): Agent {
  const alias = `agent-${newId().toLowerCase().replaceAll('_', 'x')}`;
  return { ...agentRecord(null, parent, alias), forkMessageId };
}

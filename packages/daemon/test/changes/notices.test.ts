import * as notices from '@pawl/daemon/changes/notices';
import type { Ejection } from '@pawl/schema/change';
import type { Hearing } from '@pawl/schema/definition';
import type { Agent } from '@pawl/schema/record';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { updateAgent } from '@pawl/store/agents/agents';
import { expect, test } from 'vitest';
import type { TestCrew } from '../support/crew.ts';
import { openCrew } from '../support/crew.ts';
import { addRestingAgents } from '../support/resting-agents.ts';

/** An agent of the project that hears these subjects. */
async function listener(crew: TestCrew, hears: Hearing[], fields: Partial<Agent> = {}): Promise<Agent> {
  const [agent] = await addRestingAgents(crew.platform.home, [fields], { hears });
  return agent as Agent;
}

/** The mails to each of these, by kind and first words. */
async function heard(crew: TestCrew, agents: readonly Agent[]): Promise<string[][]> {
  return Promise.all(
    agents.map(async ({ id }) =>
      (await crew.mails(id)).map(({ kind, body }) => `${kind}: ${body.split(' ', 3).join(' ')}`),
    ),
  );
}

/** Writes notices, and returns the agents that the events of that commit wake. */
async function written(store: Store, note: (tx: WriteTransaction) => Promise<void>): Promise<(string | null)[]> {
  const woken: (string | null)[] = [];
  const stop = store.onCommit(({ events }) =>
    woken.push(...events.filter(({ type }) => type === 'mail.sent').map(({ agentId }) => agentId)),
  );
  await store.write(note);
  stop();
  return woken;
}

test('agents hear of the changes, reviews and emergencies that their definition names, once each [S4-10, S4-04]', async () => {
  const crew = await openCrew();
  const { platform, project, store } = crew;
  const author = await listener(crew, []);
  const change = await crew.open(author);
  const everything = await listener(crew, ['changes', 'reviews', 'emergency']);
  const alarms = await listener(crew, ['emergency']);
  const nothing = await listener(crew, []);
  const dead = await listener(crew, ['changes', 'emergency'], { endedAt: 1, endReason: 'killed' });
  const done = await listener(crew, ['changes'], { completion: { at: 1, summary: null, failure: null } });
  const about = { platform, project, change };
  const check = await crew.failedCheck('broken');
  const ejection: Ejection = { kind: 'red', reason: 'exit code 1', files: [], checkId: null, head: change.head, at: 1 };
  const steps: ((tx: WriteTransaction) => Promise<void>)[] = [
    (tx) => notices.noteOpened(tx, about),
    (tx) => notices.noteQuestioned(tx, { ...about, findings: [{ kind: 'fewer-tests', detail: 'fewer' }] }),
    (tx) => notices.noteReviewed(tx, { ...about, reviewer: nothing, blocking: 0, notes: 0, summary: '' }),
    (tx) => notices.noteEjected(tx, { ...about, ejection }),
    (tx) => notices.noteGivenUp(tx, { ...about, reason: 'nobody is left' }),
    (tx) => notices.noteMerged(tx, { platform, project, changes: [change], commit: crew.main }),
    (tx) => notices.noteClosed(tx, { ...about, reason: 'done', learnings: null }),
    (tx) => notices.noteAlarm(tx, { platform, project, branch: 'main', check }),
    (tx) => notices.noteAlarmOver(tx, { platform, project, branch: 'main', commit: crew.main }),
  ];
  const woken: (string | null)[][] = [];
  for (const step of steps) woken.push(await written(store, step));
  const [all, own, alarm, none, ofDead, ofDone] = await heard(crew, [everything, author, alarms, nothing, dead, done]);
  expect(all).toEqual([
    `system: ${author.alias} opened the`,
    'system: The change ' + change.id.slice(0, 8),
    `system: ${nothing.alias} reviewed the`,
    'system: The queue ejected',
    'system: No agent continues',
    'system: The change ' + change.id.slice(0, 8),
    'system: The change ' + change.id.slice(0, 8),
    'alert: EMERGENCY: main is',
    'system: The emergency is',
  ]);
  // Its author hears of every step except an ejection, which arrives with the return.
  const itself = `The change ${change.id.slice(0, 8)}`;
  expect(own).toEqual([`system: ${itself}`, `system: Your change ${change.id.slice(0, 8)}`, `system: ${itself}`]);
  expect(alarm).toEqual(['alert: EMERGENCY: main is', 'system: The emergency is']);
  expect([none, ofDead, ofDone]).toEqual([[], [], []]);
  expect(woken[0]).toEqual([everything.id]);
  expect(woken[5]).toEqual([author.id, everything.id]);
  expect(woken[7]).toEqual([everything.id, alarms.id]);
});

test('several changes merged together are one mail, and one for each author', async () => {
  const crew = await openCrew();
  const { platform, project, store } = crew;
  const [first, second] = [await listener(crew, []), await listener(crew, ['changes'])];
  const changes = [await crew.open(first), await crew.open(second), await crew.open(null)];
  const woken = await written(store, (tx) => notices.noteMerged(tx, { platform, project, changes, commit: crew.main }));
  expect(woken).toEqual([first.id, second.id, second.id]);
  expect((await crew.mails(second.id))[1]?.body).toContain('3 changes are merged');
});

test('an agent without a run has the definition on disk', async () => {
  const crew = await openCrew();
  const { platform, project, store } = crew;
  crew.define('watcher', { name: 'watcher', description: 'watches', hears: ['changes'] });
  const watcher = await listener(crew, [], { definition: 'watcher' });
  await store.write(async (tx) => {
    await tx.db.updateTable('agents').set({ run_id: null }).where('id', '=', watcher.id).execute();
    await updateAgent(tx, watcher.id, { stuckAt: null });
  });
  const change = await crew.open(null);
  expect(await written(store, (tx) => notices.noteOpened(tx, { platform, project, change }))).toEqual([watcher.id]);
  expect((await crew.mails(watcher.id))[0]?.body).toContain('A person opened');
});

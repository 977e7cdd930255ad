import * as fc from 'fast-check';
import { readEvents } from '@pawl/store/events';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { expect, test } from 'vitest';
import { addTeam, emitStopped, range } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of the event log, on every engine. */
export function eventsContract(engine: EngineUnderTest): void {
  test('is read in pages, by agent, project and type', async () => {
    const store = await openFresh(engine);
    const { agent, project } = await addTeam(store);
    await store.write(async (tx) => {
      for (const number of range(1, 6)) {
        emitStopped(tx, `${number}`);
        tx.emit({ type: 'run.started', agentId: agent.id, projectId: project.id, data: { task: `${number}` } });
      }
    });
    const seqs = async (filter: Partial<Parameters<typeof readEvents>[1]>) =>
      (await readEvents(store.db, { afterSeq: 0, limit: 100, ...filter })).map((event) => event.seq);
    expect(await seqs({})).toEqual(range(1, 12));
    expect(await seqs({ afterSeq: 3, limit: 2 })).toEqual([4, 5]);
    expect(await seqs({ agentId: agent.id, afterSeq: 4 })).toEqual([6, 8, 10, 12]);
    expect(await seqs({ projectId: project.id, limit: 1 })).toEqual([2]);
    expect(await seqs({ types: ['daemon.stopped'] })).toEqual([1, 3, 5, 7, 9, 11]);
    expect(await seqs({ types: [] })).toEqual([]);
  });

  test('seq stays gap-free under any interleaving of writes and rollbacks', async () => {
    const store = await openFresh(engine);
    const heard: number[] = [];
    store.onCommit(({ events }) => heard.push(...events.map((event) => event.seq)));
    const attempt = fc.record({ events: fc.nat(4), fails: fc.boolean(), pauses: fc.nat(3) });
    let expected = 0;
    const property = fc.asyncProperty(fc.array(attempt, { maxLength: 12 }), async (attempts) => {
      const writes = attempts.map(({ events, fails, pauses }) =>
        store.write(async (tx) => {
          for (let pause = 0; pause < pauses; pause += 1) await Promise.resolve();
          await updateDaemonState(tx, { mailMirrorSeq: ((await daemonState(tx.db)).mailMirrorSeq ?? 0) + events });
          for (let event = 0; event < events; event += 1) emitStopped(tx, 'any');
          if (fails) throw new Error('rolled back');
        }),
      );
      await Promise.allSettled(writes);
      expected += attempts.reduce((sum, { events, fails }) => sum + (fails ? 0 : events), 0);
      expect(store.lastSeq()).toBe(expected);
      expect((await daemonState(store.db)).mailMirrorSeq ?? 0).toBe(expected);
    });
    await fc.assert(property, { numRuns: 25, endOnFailure: true });
    expect(heard).toEqual(range(1, expected));
    const last = await readEvents(store.db, { afterSeq: expected - 1, limit: 10 });
    expect(last.map((event) => event.seq)).toEqual(expected === 0 ? [] : [expected]);
  });
}

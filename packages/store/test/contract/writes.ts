import { AssertionError } from 'node:assert';
import type { Event } from '@pawl/schema/event';
import { readEvents } from '@pawl/store/events';
import { insertProject, listProjects, projectById } from '@pawl/store/projects/projects';
import type { Committed } from '@pawl/store/store';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { expect, test } from 'vitest';
import { emitStopped, fixedTime, projectRecord, range } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of `write`, on every engine. */
export function writesContract(engine: EngineUnderTest): void {
  test('commits facts and events together and tells listeners what the log holds', async () => {
    const store = await openFresh(engine);
    const heard: Committed[] = [];
    store.onCommit((committed) => heard.push(committed));
    const project = projectRecord();
    const answer = await store.write(async (tx) => {
      await insertProject(tx, project);
      tx.emit({ type: 'project.added', projectId: project.id, data: { name: project.name, root: project.root } });
      emitStopped(tx, 'second');
      return 'done';
    });
    expect(answer).toBe('done');
    expect(await projectById(store.db, project.id)).toEqual(project);
    const log = await readEvents(store.db, { afterSeq: 0, limit: 10 });
    expect(log.map(({ seq, at, type }) => ({ seq, at, type }))).toEqual([
      { seq: 1, at: fixedTime, type: 'project.added' },
      { seq: 2, at: fixedTime, type: 'daemon.stopped' },
    ]);
    expect(heard).toEqual([{ events: log, chunks: [] }]);
    expect(store.lastSeq()).toBe(2);
  });

  test('a rollback leaves neither facts nor events and returns the numbers', async () => {
    const store = await openFresh(engine);
    let told = 0;
    store.onCommit(() => (told += 1));
    const failed = store.write(async (tx) => {
      await insertProject(tx, projectRecord());
      emitStopped(tx, 'never');
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    expect(await listProjects(store.db)).toEqual([]);
    expect({ told, seq: store.lastSeq() }).toEqual({ told: 0, seq: 0 });
    await store.write(async (tx) => emitStopped(tx, 'first'));
    expect((await readEvents(store.db, { afterSeq: 0, limit: 10 })).map((event) => event.seq)).toEqual([1]);
  });

  test('concurrent writes are serialised, and seq has no gap', async () => {
    const store = await openFresh(engine);
    const seqs: number[] = [];
    store.onCommit(({ events }) => seqs.push(...events.map((event) => event.seq)));
    let running = 0;
    const writes = range(1, 30).map((number) =>
      store.write(async (tx) => {
        running += 1;
        expect(running).toBe(1);
        await updateDaemonState(tx, { mailMirrorSeq: number });
        emitStopped(tx, `write ${number}`);
        running -= 1;
        if (number % 3 === 0) throw new Error('every third fails');
      }),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(10);
    expect(seqs).toEqual(range(1, 20));
    expect((await daemonState(store.db)).mailMirrorSeq).toBe(29);
  });

  test('readers never see an open transaction', async () => {
    const store = await openFresh(engine);
    const project = projectRecord();
    const seen: ReturnType<typeof projectById>[] = [];
    const failed = store.write(async (tx) => {
      await insertProject(tx, project);
      seen.push(projectById(store.db, project.id));
      expect(await projectById(tx.db, project.id)).toEqual(project);
      throw new Error('roll back');
    });
    await expect(failed).rejects.toThrow('roll back');
    expect(await Promise.all(seen)).toEqual([null]);
  });

  test('a listener can read what it was notified of, and a throwing one breaks nothing', async () => {
    const errors: unknown[] = [];
    const store = await openFresh(engine, { onListenerError: (error) => errors.push(error) });
    const read: Promise<Event[]>[] = [];
    store.onCommit(() => {
      throw new Error('a bad listener');
    });
    store.onCommit(({ events }) => read.push(readEvents(store.db, { afterSeq: (events[0]?.seq ?? 0) - 1, limit: 1 })));
    await store.write(async (tx) => emitStopped(tx, 'one'));
    await store.write(async (tx) => emitStopped(tx, 'two'));
    const reasons = (await Promise.all(read)).map((events) => events[0]?.data['reason']);
    expect(reasons).toEqual(['one', 'two']);
    expect(errors.map(String)).toEqual(['Error: a bad listener', 'Error: a bad listener']);
  });

  test('a removed listener is no longer called', async () => {
    const store = await openFresh(engine);
    let told = 0;
    const stop = store.onCommit(() => (told += 1));
    await store.write(async (tx) => emitStopped(tx, 'one'));
    stop();
    await store.write(async (tx) => emitStopped(tx, 'two'));
    expect(told).toBe(1);
  });

  test('a nested write is an error, not a deadlock; a listener may write', async () => {
    const store = await openFresh(engine);
    await expect(store.write(() => store.write(async () => {}))).rejects.toThrow(AssertionError);
    const followUp = Promise.withResolvers<void>();
    const stop = store.onCommit(() => {
      stop();
      store.write(async (tx) => emitStopped(tx, 'from a listener')).then(followUp.resolve, followUp.reject);
    });
    await store.write(async (tx) => emitStopped(tx, 'first'));
    await followUp.promise;
    expect(store.lastSeq()).toBe(2);
  });

  test('an invalid event rolls back the whole write', async () => {
    const store = await openFresh(engine);
    const failed = store.write(async (tx) => {
      await insertProject(tx, projectRecord());
      tx.emit({ type: 'daemon.stopped', data: { reason: 7 as unknown as string } });
    });
    await expect(failed).rejects.toThrow(/reason/);
    expect(await listProjects(store.db)).toEqual([]);
  });

  test('work that continues after a failed statement commits nothing', async () => {
    const store = await openFresh(engine);
    const project = projectRecord();
    const swallowed = store.write(async (tx) => {
      await insertProject(tx, project);
      await insertProject(tx, project).catch(() => {});
    });
    await expect(swallowed).rejects.toMatchObject({ code: 'conflict' });
    const stubborn = store.write(async (tx) => {
      await insertProject(tx, project);
      await insertProject(tx, project).catch(() => {});
      await insertProject(tx, projectRecord());
    });
    await expect(stubborn).rejects.toMatchObject({ code: 'conflict' });
    expect(await listProjects(store.db)).toEqual([]);
    await store.write((tx) => insertProject(tx, project));
    expect(await listProjects(store.db)).toEqual([project]);
  });

  test('nothing can be written or emitted once the transaction has ended', async () => {
    const store = await openFresh(engine);
    const leaked = await store.write(async (tx) => ({ tx }));
    expect(() => emitStopped(leaked.tx, 'late')).toThrow(AssertionError);
    await expect(insertProject(leaked.tx, projectRecord())).rejects.toThrow();
    expect(await listProjects(store.db)).toEqual([]);
  });

  test('a closed store finishes queued writes, and takes no more', async () => {
    const store = await openFresh(engine);
    const waiting = range(1, 5).map((number) => store.write(async (tx) => emitStopped(tx, `${number}`)));
    await store.close();
    await Promise.all(waiting);
    expect(store.lastSeq()).toBe(5);
    await expect(store.write(async () => {})).rejects.toMatchObject({ code: 'unavailable' });
  });
}

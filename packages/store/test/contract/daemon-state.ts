import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fixedTime } from '../fixture.ts';
import { upgradedStore, writtenAt } from '../old-settings.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

const empty = {
  rootAgentId: null,
  currentAgentId: null,
  clock: null,
  searchPath: null,
  mailMirrorSeq: null,
  port: null,
};
const anchor = { boot: 'b', monotonicMs: 1.5, wallMs: 2 };

/** The contract of the facts that a home has once, on every engine. */
export function daemonStateContract(engine: EngineUnderTest): void {
  test('is empty at first; an update keeps the other facts', async () => {
    const store = await openFresh(engine);
    expect(await daemonState(store.db)).toEqual(empty);
    await store.write((tx) => updateDaemonState(tx, { rootAgentId: 'r', mailMirrorSeq: 0 }));
    await store.write((tx) => updateDaemonState(tx, { searchPath: '/bin', mailMirrorSeq: 2 ** 40 }));
    expect(await daemonState(store.db)).toEqual({
      ...empty,
      rootAgentId: 'r',
      searchPath: '/bin',
      mailMirrorSeq: 2 ** 40,
    });
    const { rows } = await sql`select updated_at from daemon_state`.execute(store.db);
    expect(rows.map((row) => Number((row as { updated_at: unknown }).updated_at))).toEqual([fixedTime]);
  });

  test('is taken over from the settings of an earlier release', async () => {
    const store = await upgradedStore(engine, {
      root_agent: 'root',
      current_agent: 'otter',
      clock: anchor,
      search_path: '/a b:/\u0000\ud800:/"',
      mail_mirror_seq: 77,
    });
    const { clock, ...state } = await daemonState(store.db);
    expect(state).toEqual({
      rootAgentId: 'root',
      currentAgentId: 'otter',
      searchPath: '/a b:/\u0000\ud800:/"',
      mailMirrorSeq: 77,
      port: null,
    });
    expect(JSON.parse(clock ?? '')).toEqual(anchor);
    const { rows } = await sql`select updated_at from daemon_state`.execute(store.db);
    expect(rows.map((row) => Number((row as { updated_at: unknown }).updated_at))).toEqual([writtenAt(4)]);
  });

  test('is taken over from a home that had only some of it', async () => {
    const store = await upgradedStore(engine, { root_agent: 'root', current_agent: null });
    expect(await daemonState(store.db)).toEqual({ ...empty, rootAgentId: 'root' });
  });
}

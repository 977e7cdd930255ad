import { passReachableForge } from '@pawl/daemon/forge-sync/forge-pass';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { insertCheck, recentChecks } from '@pawl/store/changes/checks';
import { updateQueue } from '@pawl/store/changes/queues';
import { expect, test } from 'vitest';
import { openForgeHome } from '../support/forge-home.ts';

test('an alarm of the forge’s CI outlasts our own green check, and ends when the forge is green', async () => {
  await using place = await openForgeHome();
  const { server, store, project, link } = place;
  const commit = (await place.bench()).target.tip;
  const look = async () => {
    // As if the next pass were due.
    link.nextAt = 0;
    const { place: where, asksMain } = await passReachableForge(await place.bench());
    return { keepsAlarm: where?.keepsAlarm, asksMain };
  };
  const checks = async () => recentChecks(store.db, project.id, limits.queueChecks);
  server.run('main', commit, 'failure');
  await look();
  const [red] = await checks();
  if (red === undefined) throw new Error('nothing was noted');
  const emergency = { commit, checkId: red.id, since: 1, fixerId: null, trouble: null };
  await store.write((tx) => updateQueue(tx, project.id, { emergency }));
  expect(await look()).toEqual({ keepsAlarm: true, asksMain: false });
  expect(await checks()).toHaveLength(2);
  await store.write((tx) =>
    insertCheck(tx, { ...red, id: newId(), steps: place.config.checks, outcome: 'passed', detail: 'passed' }),
  );
  // Polled a moment ago, so it is known without asking.
  const { place: where } = await passReachableForge(await place.bench());
  expect(where).toMatchObject({ is: 'there', keepsAlarm: true });
  expect(await look()).toEqual({ keepsAlarm: true, asksMain: false });
  server.run('main', commit, '');
  expect(await look()).toEqual({ keepsAlarm: true, asksMain: false });
  server.run('main', commit, 'success');
  expect(await look()).toMatchObject({ keepsAlarm: false });
});

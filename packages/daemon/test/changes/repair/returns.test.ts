import { changeReturns } from '@pawl/daemon/changes/repair/returned';
import { limits } from '@pawl/schema/limit';
import { updateAgent } from '@pawl/store/agents/agents';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { openCrew } from '../../support/crew.ts';
import { commitOn } from '../../support/merge-queue.ts';

test('an idle author is woken by its returned change, once, with the log and what to do [S4-01]', async () => {
  const crew = await openCrew();
  const author = await crew.rested();
  const change = await crew.open(author);
  const check = await crew.failedCheck('ok 1\nnot ok 2 - the cache\n');
  await crew.eject(change.id, { kind: 'red', reason: 'the checks fail with it', checkId: check.id });
  await Promise.all([crew.tick(), crew.tick()]);
  await crew.tick();
  const mails = await crew.mails(author.id);
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatchObject({ kind: 'alert', fromId: crew.platform.rootId });
  expect(mails[0]?.body).toContain('> not ok 2 - the cache');
  expect(await crew.events('change.returned')).toMatchObject([
    { agentId: author.id, data: { changeId: change.id, to: author.id } },
  ]);
  expect((await crew.now(change.id)).returns).toBe(1);
  // The mail starts its own turn, as Pawl's text and not a person's.
  const delivered = async () => (await crew.mails(author.id))[0]?.deliveredAt ?? null;
  await waitUntil(delivered, { what: 'the mail to be delivered' });
  const { run } = await crew.ended(author.id);
  expect(run?.task).toContain('You have new mail');
  // After its turn without a proposal a person is asked, and no other agent is started.
  await crew.tick({ fixer: await crew.staff(['complete']) });
  await crew.tick();
  expect(await crew.now(change.id)).toMatchObject({ returns: limits.changeReturns, standInId: null });
  expect((await crew.events('change.blocked')).map(({ data }) => data['reason'])).toEqual([
    'its author was told, and proposes nothing new',
  ]);
  expect(await crew.mails(author.id)).toHaveLength(1);
});

test('each head is returned once per reason, up to a limit', async () => {
  const crew = await openCrew();
  const author = await crew.work([{ hang: {} }]);
  const change = await crew.open(author);
  for (let head = 1; head <= limits.changeReturns + 2; head++) {
    await crew.patch(change.id, { head: `${head}`.repeat(40) });
    await crew.eject(change.id, { at: head });
    await crew.tick();
    await crew.tick();
  }
  expect((await crew.now(change.id)).returns).toBe(limits.changeReturns);
  expect(await crew.events('change.returned')).toHaveLength(limits.changeReturns);
  expect(await crew.mails(author.id)).toHaveLength(limits.changeReturns);
});

test('a change whose author is gone is continued by one stand-in, from its head, in the right mode', async () => {
  const crew = await openCrew();
  const fixer = await crew.staff([{ hang: {} }]);
  const author = await crew.gone();
  const head = await commitOn(crew.root, 'work/theirs', { 'a.txt': 'theirs\n' });
  const change = await crew.open(author, { branch: 'work/theirs', head });
  await crew.eject(change.id);
  await Promise.all([crew.tick({ fixer }), crew.again().tick(crew.project, { ...crew.config, fixer })]);
  await crew.tick({ fixer });
  const { standInId, returns } = await crew.now(change.id);
  expect(returns).toBe(1);
  const { agent, run } = await crew.view(standInId ?? '');
  expect(agent).toMatchObject({ baseCommit: head, mode: 'conflict-resolution', definition: fixer.definition });
  expect(run?.task).toContain(`Its author, ${author.alias}, is gone.`);
  expect(run?.task).toContain('in: a.txt');
  expect((await crew.living()).filter(({ mode }) => mode === 'conflict-resolution')).toHaveLength(1);
  expect(await crew.events('change.returned')).toMatchObject([{ agentId: author.id, peerId: standInId }]);
  expect(await crew.mails(author.id)).toEqual([]);
  // Its worktree has the change's files.
  await waitUntil(async () => (await crew.view(agent.id)).agent.worktreeReadyAt, { what: 'its worktree' });
  expect(await git(agent.worktree ?? '', ['show', 'HEAD:a.txt'])).toBe('theirs');
});

test('after a kill between the fork and its record the same agent continues, and no second is started', async () => {
  const crew = await openCrew();
  const fixer = await crew.staff([{ hang: {} }]);
  const change = await crew.open(await crew.gone(), { returns: 1 });
  await crew.eject(change.id);
  await crew.tick({ fixer });
  const { standInId } = await crew.now(change.id);
  // As the kill leaves it: the agent exists, and nothing was recorded.
  await crew.patch(change.id, { standInId: null, returns: 1 });
  await crew.store.write((tx) => changeReturns.delete(tx, { changeId: change.id }));
  await crew.again().tick(crew.project, { ...crew.config, fixer });
  expect(await crew.now(change.id)).toMatchObject({ standInId, returns: 2 });
});

test('a stand-in that gives up, or cannot be started, leaves the change to a person', async () => {
  const crew = await openCrew();
  const orphan = async () => crew.open(await crew.gone());
  const [tried, hopeless, misnamed] = [await orphan(), await orphan(), await orphan()];
  await crew.eject(tried.id);
  const fixer = await crew.staff(['complete']);
  await crew.tick({ fixer });
  const { standInId } = await crew.now(tried.id);
  await crew.ended(standInId ?? '');
  await crew.tick({ fixer });
  await crew.eject(hopeless.id);
  await crew.tick({ fixer: null });
  await crew.eject(misnamed.id);
  await crew.tick({ fixer: { ...fixer, definition: 'nobody-of-this-name' } });
  for (const { id } of [tried, hopeless, misnamed]) expect((await crew.now(id)).returns).toBe(limits.changeReturns);
  expect((await crew.events('change.blocked')).map(({ data }) => data['reason'])).toEqual([
    expect.stringContaining('proposes nothing new'),
    expect.stringContaining('no stand-in is configured'),
    expect.stringContaining('no stand-in could be started'),
  ]);
});

test('a repository may not choose the program of its queue’s agents', async () => {
  const crew = await openCrew();
  const author = await crew.gone();
  const change = await crew.open(author);
  await crew.eject(change.id);
  await crew.tick({ fixer: { definition: 'worker', provider: null, model: null, options: { command: '/bin/evil' } } });
  expect((await crew.living()).map(({ alias }) => alias)).toEqual(['root']);
  const [event] = await crew.events('change.blocked');
  expect(event?.data['reason']).toContain('may not choose the command');
});

test('a person’s change is shown to that person, and a stopped agent is not woken', async () => {
  const crew = await openCrew();
  const fixer = await crew.staff(['complete']);
  const [ofPerson, ofStopped] = [await crew.open(null), await crew.open(await crew.rested())];
  await crew.store.write((tx) => updateAgent(tx, ofStopped.agentId ?? '', { stopRequestedAt: tx.now }));
  await crew.eject(ofPerson.id);
  await crew.eject(ofStopped.id);
  await crew.tick({ fixer });
  expect(await crew.now(ofPerson.id)).toMatchObject({ returns: 0, standInId: null });
  expect(await crew.now(ofStopped.id)).toMatchObject({ returns: 1, standInId: null });
  expect((await crew.view(ofStopped.agentId ?? '')).run?.outcome).toBe('completed');
});

test('the stand-in for the repair of main becomes the fixer', async () => {
  const crew = await openCrew();
  const author = await crew.gone();
  const change = await crew.open(author);
  const { id: checkId } = await crew.failedCheck('broken');
  await crew.store.write(async (tx) => {
    const emergency = { commit: crew.main, checkId, since: 1, fixerId: author.id, trouble: null };
    await updateQueue(tx, crew.project.id, { emergency });
  });
  await crew.eject(change.id, { kind: 'red' });
  await crew.tick({ fixer: await crew.staff([{ hang: {} }]) });
  const { standInId } = await crew.now(change.id);
  expect((await crew.view(standInId ?? '')).agent.mode).toBe('execute');
  expect((await queueOf(crew.store.db, crew.project.id))?.emergency?.fixerId).toBe(standInId);
});

test('a stand-in is dismissed when someone else moves the change', async () => {
  const crew = await openCrew();
  const fixer = await crew.staff([{ hang: {} }]);
  const change = await crew.open(await crew.gone());
  await crew.eject(change.id);
  await crew.tick({ fixer });
  const { standInId } = await crew.now(change.id);
  const head = await commitOn(crew.root, 'work/theirs', { 'a.txt': 'theirs\n' });
  await crew.patch(change.id, { head });
  await crew.tick({ fixer });
  expect((await crew.now(change.id)).standInId).toBeNull();
  expect((await crew.view(standInId ?? '')).agent.endReason).toBe('what it was for is done');
});

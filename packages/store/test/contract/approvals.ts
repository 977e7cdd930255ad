import type { Approval } from '@pawl/schema/approval/approval';
import { newId } from '@pawl/schema/id';
import {
  approvalById,
  approvalOfCli,
  closeApproval,
  countOpenApprovals,
  delayApproval,
  findApprovals,
  insertApproval,
  markApprovalsSent,
  nextApprovalDeadline,
  openApprovals,
  referApproval,
  sessionsWithUnsent,
  unsentApprovals,
  waitingApprovals,
} from '@pawl/store/sessions/approvals';
import { insertAgent } from '@pawl/store/agents/agents';
import { insertProject } from '@pawl/store/projects/projects';
import { expect, test } from 'vitest';
import { agentRecord, projectRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function approvalRecord(agentId: string, fields: Partial<Approval> = {}): Approval {
  return {
    id: newId(),
    projectId: null,
    agentId,
    sessionId: newId(),
    provider: 'scripted',
    nativeId: 'one',
    kind: 'command',
    tool: 'Bash',
    title: 'make “it” \u0007',
    detail: '{"command":"make"}',
    cwd: '/work',
    owner: null,
    askedAt: 1_000,
    referredAt: null,
    deadlineAt: null,
    closedAt: null,
    end: null,
    closedBy: null,
    decision: null,
    reason: null,
    sentAt: null,
    ...fields,
  };
}

/** The contract of requests for approval, on every engine. */
export function approvalsContract(engine: EngineUnderTest): void {
  async function open() {
    const store = await openFresh(engine);
    const project = projectRecord();
    const agent = agentRecord({ projectId: project.id });
    await store.write(async (tx) => {
      await insertProject(tx, project);
      await insertAgent(tx, agent);
    });
    return { store, agent };
  }

  test('a request is read back as it was stored, and stored once for each id of its session', async () => {
    const { store, agent } = await open();
    const approval = approvalRecord(agent.id);
    const insert = (more: Partial<Approval> = {}) => store.write((tx) => insertApproval(tx, { ...approval, ...more }));
    expect(await insert()).toBe(true);
    expect(await insert({ id: newId(), title: 'another' })).toBe(false);
    expect(await insert({ id: newId(), nativeId: 'two' })).toBe(true);
    expect(await approvalById(store.db, approval.id)).toEqual(approval);
    expect(await approvalOfCli(store.db, approval.sessionId ?? '', 'one')).toEqual(approval);
    expect((await findApprovals(store.db, approval.id.slice(0, 12))).map(({ id }) => id)).toContain(approval.id);
    expect(await countOpenApprovals(store.db, approval.sessionId ?? '')).toBe(2);
    const [first, second] = await openApprovals(store.db, { agentId: agent.id });
    expect(first?.id).toBe(approval.id);
    expect(await openApprovals(store.db, { after: first ?? null })).toEqual([second]);
  });

  test('the first decision counts, and is kept until it is sent', async () => {
    const { store, agent } = await open();
    const approval = approvalRecord(agent.id);
    const close = (decision: 'allow' | 'deny') =>
      store.write((tx) =>
        closeApproval(tx, approval.id, { end: 'answered', closedBy: 'person', decision, reason: null }),
      );
    await store.write((tx) => insertApproval(tx, approval));
    expect(await sessionsWithUnsent(store.db)).toEqual([]);
    expect(await close('deny')).toBe(true);
    expect(await close('allow')).toBe(false);
    expect(await sessionsWithUnsent(store.db)).toEqual([approval.sessionId]);
    const [unsent] = await unsentApprovals(store.db, approval.sessionId ?? '');
    expect(unsent).toMatchObject({ id: approval.id, decision: 'deny', end: 'answered' });
    await store.write((tx) => markApprovalsSent(tx, [approval.id]));
    expect(await sessionsWithUnsent(store.db)).toEqual([]);
    expect(await openApprovals(store.db)).toEqual([]);
  });

  test('a request waits for a person once it is referred, until its deadline or for good', async () => {
    const { store, agent } = await open();
    const approval = approvalRecord(agent.id);
    await store.write((tx) => insertApproval(tx, approval));
    expect(await waitingApprovals(store.db)).toEqual(new Map());
    expect(await store.write((tx) => referApproval(tx, approval.id, 5_000))).toBe(true);
    expect(await store.write((tx) => referApproval(tx, approval.id, 9_000))).toBe(false);
    expect(await nextApprovalDeadline(store.db)).toBe(5_000);
    expect((await waitingApprovals(store.db)).get(agent.id)).toContain('Bash: make');
    await store.write((tx) => delayApproval(tx, approval.id));
    expect(await nextApprovalDeadline(store.db)).toBeNull();
  });
}

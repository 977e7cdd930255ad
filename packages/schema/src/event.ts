import * as z from 'zod';
import { outcomeSchema } from './runtime/outcome.ts';
import { approvalKinds } from './approval/approval-kind.ts';
import { idSchema, nameSchema } from './id.ts';
import { mailChannels, mailKinds, questionEnds } from './mail.ts';
import { checkOutcomes, findingSchema, testCountSchema } from './change.ts';
import { ruleEffects, ruleScopes } from './rule.ts';
import { interactions } from './definition.ts';
import { budgetOwners, budgetSchema, timeSchema, usageSchema } from './record.ts';

const approvalAsked = z.object({
  approvalId: idSchema,
  kind: z.enum(approvalKinds),
  tool: z.string(),
  /** The CLI's own subagent that asks. */ owner: z.string().nullable().optional(),
});
const approvalClosed = z.object({
  approvalId: idSchema,
  decision: z.enum(['allow', 'deny']).nullable(),
  by: z.string(),
});

/** The data of each event. Names are noun-verb in the past; an event is written together with its fact. */
const proposalEvent = z.object({ proposalId: idSchema, planId: idSchema.nullable(), by: z.string() });

export const eventData = {
  'daemon.started': z.object({ version: z.string(), pid: z.number().int() }),
  'daemon.stopped': z.object({ reason: z.string() }),
  'store.restored': z.object({ quarantined: z.string(), backup: z.string().nullable(), reason: z.string() }),
  /** A browser exchanged a code for a session of the page. */
  'web.session_opened': z.object({ sessionId: idSchema }),
  /** `reuse`: its code was used a second time. */
  'web.session_revoked': z.object({ sessionId: idSchema, by: z.enum(['person', 'reuse']) }),
  'project.added': z.object({ name: nameSchema, root: z.string() }),
  /** A person changed project settings; only changed ones are included. */
  'project.configured': z.object({
    provider: nameSchema.nullable().optional(),
    crew: z.boolean().optional(),
    tracked: z.boolean().optional(),
    interaction: z.enum(interactions).optional(),
  }),
  'project.moved': z.object({ name: nameSchema, from: z.string(), to: z.string() }),
  'agent.forked': z.object({
    alias: nameSchema,
    parentId: idSchema.nullable(),
    definition: nameSchema,
    provider: nameSchema.nullable(),
    branch: z.string().nullable(),
    /** 0: it inherits nothing. */
    forkMessageId: z.number().int(),
  }),
  'agent.fork_waiting': z.object({ reason: z.string() }),
  /** One event per kill; `agents` are all that died, children before parents. */
  'agent.killed': z.object({
    target: idSchema,
    killedBy: idSchema,
    cascade: z.boolean(),
    count: z.number().int(),
    agents: z.array(idSchema),
    /** Children that live on under another supervisor. */
    resupervised: z.array(idSchema),
  }),
  'agent.reaped': z.object({ alias: nameSchema }),
  'worktree.created': z.object({ path: z.string(), branch: z.string().nullable(), base: z.string() }),
  'worktree.trashed': z.object({ path: z.string(), entry: z.string(), branchDeleted: z.boolean() }),
  'worktree.retained': z.object({ path: z.string(), reason: z.string() }),
  'worktree.missing': z.object({ path: z.string() }),
  'worktree.reattached': z.object({ path: z.string(), branch: z.string() }),
  'worktree.restored': z.object({ path: z.string(), entry: z.string() }),
  'worktree.pruned': z.object({ entry: z.string() }),
  'history.cleared': z.object({ messageId: z.number().int() }),
  'history.marked': z.object({ messageId: z.number().int(), label: z.string() }),
  'history.rewound': z.object({ messageId: z.number().int(), to: z.number().int() }),
  'project.trusted': z.object({ files: z.array(z.string()) }),
  'project.distrusted': z.object({ files: z.array(z.string()) }),
  'desk.switched': z.object({ from: idSchema, to: idSchema }),
  'run.started': z.object({ task: z.string() }),
  'session.planned': z.object({ no: z.number().int(), purpose: z.string() }),
  'session.started': z.object({ no: z.number().int(), pid: z.number().int() }),
  'session.adopted': z.object({ no: z.number().int(), pid: z.number().int() }),
  'session.identified': z.object({ no: z.number().int(), providerSessionId: z.string() }),
  'session.damaged': z.object({ no: z.number().int(), stream: z.string(), reason: z.string() }),
  'session.paused': z.object({ no: z.number().int() }),
  'session.continued': z.object({ no: z.number().int() }),
  'session.interrupted': z.object({ no: z.number().int() }),
  /** It was running when the last daemon ended, and how it ended is unknown. */
  'session.lost': z.object({ no: z.number().int() }),
  /** It prints nothing, as often at limits and overload. */
  'session.silent': z.object({ no: z.number().int(), silentMs: z.number().int() }),
  /** The run continues in another session after an error or a pause. */
  'run.waiting': z.object({ reason: z.enum(['account', 'retry']), until: timeSchema, detail: z.string() }),
  'session.ended': z.object({
    no: z.number().int(),
    exitCode: z.number().int().nullable(),
    reason: z.string(),
    usage: usageSchema,
  }),
  'agent.waiting': z.object({ questions: z.number().int() }),
  'agent.exhausted': z.object({ until: timeSchema.nullable() }),
  /** A person or an agent sent it a message. */
  'agent.told': z.object({ by: z.string(), channel: z.enum(['live', 'resumed']) }),
  /** It continues with another provider or model. */
  'agent.transferred': z.object({ provider: nameSchema, model: z.string().nullable() }),
  'agent.answered': z.object({ by: z.string(), answers: z.number().int() }),
  'budget.changed': z.object({ budget: budgetSchema }),
  'budget.exceeded': z.object({ of: z.enum(budgetOwners), detail: z.string() }),
  /** A repository's files that a provider would run or read as settings, and was kept from. */
  'settings.blocked': z.object({ files: z.array(z.string()) }),
  /** The proxy kept a session from connecting to a host; once for each host and session. */
  'network.refused': z.object({ host: z.string(), port: z.number().int(), reason: z.string() }),
  'account.added': z.object({ account: nameSchema, provider: nameSchema, kind: z.string() }),
  'account.removed': z.object({ account: nameSchema, provider: nameSchema }),
  /** A person made it the default of its provider; its known limits may be cleared. */
  'account.selected': z.object({ account: nameSchema, provider: nameSchema }),
  'account.exhausted': z.object({ account: nameSchema, provider: nameSchema, until: timeSchema }),
  'account.invalid': z.object({ account: nameSchema, provider: nameSchema, reason: z.string() }),
  'account.switched': z.object({
    from: nameSchema.nullable(),
    to: nameSchema,
    provider: nameSchema,
    reason: z.string(),
  }),
  'task.added': z.object({ taskId: idSchema, name: z.string(), phase: z.string() }),
  'task.taken': z.object({ taskId: idSchema }),
  /** Its priority was changed, or it was cancelled. */
  'task.edited': z.object({ taskId: idSchema }),
  'task.completed': z.object({ taskId: idSchema }),
  'task.finished': z.object({ taskId: idSchema }),
  'task.requeued': z.object({ taskId: idSchema, crashes: z.number().int(), reason: z.string() }),
  'plan.started': z.object({ planId: idSchema, name: z.string() }),
  /** Something in it was changed by hand, or by a proposal that was accepted or reverted. */
  'plan.edited': z.object({ planId: idSchema }),
  /** A person approved exactly this content. */
  'plan.approved': z.object({ planId: idSchema, version: z.number().int(), hash: z.string() }),
  'plan.launched': z.object({ planId: idSchema }),
  /** Working agents continue; nothing else starts. */
  'plan.paused': z.object({ planId: idSchema }),
  'plan.resumed': z.object({ planId: idSchema }),
  'plan.archived': z.object({ planId: idSchema }),
  /** A person approved the result of a phase. */
  'phase.approved': z.object({ planId: idSchema, phaseId: idSchema }),
  /** A person requested changes of a phase; `taskId` is the revision that makes them. */
  'phase.changes_requested': z.object({ planId: idSchema, phaseId: idSchema, taskId: idSchema }),
  'phase.thread_answered': z.object({ planId: idSchema, threadId: idSchema }),
  /** The events of a proposal are about the agent that made it or decided. Its plan may begin with its acceptance. */
  'proposal.made': proposalEvent,
  'proposal.accepted': proposalEvent,
  'proposal.dismissed': proposalEvent,
  'proposal.reverted': proposalEvent,
  /** A task that an agent wanted to hand over, and the plan did not take. */
  'task.refused': z.object({ name: z.string(), reason: z.string() }),
  'task.blocked': z.object({ taskId: idSchema, reason: z.string() }),
  'errand.merged': z.object({ branch: z.string(), into: z.string(), commit: z.string() }),
  'errand.abandoned': z.object({ branch: z.string() }),
  /** The events of a mail are about its recipient; `peerId` is its sender. */
  'mail.sent': z.object({
    mailId: idSchema,
    kind: z.enum(mailKinds),
    bytes: z.number().int(),
    questionId: idSchema.nullable(),
  }),
  'mail.delivered': z.object({ mailId: idSchema, channel: z.enum(mailChannels) }),
  'mail.read': z.object({ mailId: idSchema }),
  'mail.acked': z.object({ mailId: idSchema }),
  /** Its session ended without confirming it: it waits again. */
  'mail.returned': z.object({ mailId: idSchema, attempts: z.number().int(), reason: z.string() }),
  'mail.dead_lettered': z.object({ mailId: idSchema, reason: z.string() }),
  /** A file in a mailbox directory that is not a mail. */
  'mail.file_refused': z.object({ file: z.string(), reason: z.string() }),
  'mailbox.pruned': z.object({ path: z.string() }),
  /** About the recipient; `peerId` asks. */
  'question.asked': z.object({ questionId: idSchema, mailId: idSchema }),
  'question.ended': z.object({ questionId: idSchema, end: z.enum(questionEnds) }),
  /** About the agent of the rule's session or agent, or the project of its scope. */
  'rule.added': z.object({
    ruleId: idSchema,
    scope: z.enum(ruleScopes),
    effect: z.enum(ruleEffects),
    match: z.string(),
    by: z.string(),
  }),
  'rule.revoked': z.object({ ruleId: idSchema, match: z.string(), by: z.string() }),
  /** A CLI waits for an answer; rules are asked first. */
  'approval.asked': approvalAsked,
  /** No rule decided: a person has to. */
  'approval.referred': approvalAsked,
  'approval.answered': approvalClosed,
  /** Its CLI no longer waits. */
  'approval.withdrawn': approvalClosed,
  /** Denied because no answer came in time. */
  'approval.expired': approvalClosed,
  'nudge.sent': z.object({ mailId: idSchema }),
  /** Emitted when the reason changes, not each time. */
  'nudge.skipped': z.object({ reason: z.string() }),
  'agent.stuck': z.object({ reason: z.string() }),
  'agent.unstuck': z.object({}),
  /** A crashed agent was restarted: the count within an hour, and the cause. */
  'agent.restarted': z.object({ attempt: z.number().int(), reason: z.string() }),
  /**
   * It signalled that its task is done. `notified` were sent a mail; it leaves when its change or review is settled.
   */
  'agent.finished': z.object({ summary: z.string().nullable(), notified: z.array(idSchema) }),
  /** It has completed. `notified` were sent a mail. */
  'agent.completed': z.object({
    summary: z.string().nullable(),
    failure: z.string().nullable(),
    notified: z.array(idSchema),
  }),
  /** Its completion is withdrawn, and announced to `notified`, who received the completion. */
  'agent.completion_withdrawn': z.object({ notified: z.array(idSchema) }),
  /** It has ended after completing: `agents` are it and its subagents, `resupervised` have a new supervisor. */
  'agent.ended': z.object({ reason: z.string(), agents: z.array(idSchema), resupervised: z.array(idSchema) }),
  /** An unregistered process was found in a project, and has left it. */
  'agent.adopted': z.object({ pid: z.number().int(), cwd: z.string(), provider: nameSchema }),
  'agent.left': z.object({ pid: z.number().int() }),
  /** The events of a change are about its author. */
  'change.opened': z.object({ changeId: idSchema, branch: z.string(), head: z.string(), title: z.string() }),
  /** An agent without Patch finished with commits, which stay on its branch. */
  'change.withheld': z.object({ branch: z.string(), head: z.string(), definition: nameSchema }),
  /** Its author proposed a later commit. */
  'change.moved': z.object({ changeId: idSchema, from: z.string(), head: z.string() }),
  /** A person asked to merge this head. */
  'change.asked': z.object({ changeId: idSchema, head: z.string(), by: z.string() }),
  /** This head passed its checks and waits for a person to merge it. */
  'change.passed': z.object({ changeId: idSchema, head: z.string(), onto: z.string() }),
  'change.queued': z.object({ changeId: idSchema, head: z.string(), by: z.string() }),
  /** It was queued, and is a draft again. */
  'change.drafted': z.object({ changeId: idSchema, by: z.string() }),
  'change.blocked': z.object({ changeId: idSchema, by: z.string(), reason: z.string() }),
  'change.unblocked': z.object({ changeId: idSchema, by: z.string() }),
  'change.approved': z.object({ changeId: idSchema, head: z.string() }),
  'change.commented': z.object({ changeId: idSchema, commentId: idSchema, kind: z.string() }),
  'change.addressed': z.object({ changeId: idSchema, commentId: idSchema, by: z.string() }),
  /** It weakens the gate, and waits for a person. */
  'change.questioned': z.object({ changeId: idSchema, head: z.string(), findings: z.array(findingSchema) }),
  'change.ejected': z.object({
    changeId: idSchema,
    head: z.string(),
    kind: z.string(),
    reason: z.string(),
    checkId: idSchema.nullable(),
  }),
  'change.merged': z.object({ changeId: idSchema, head: z.string(), commit: z.string() }),
  'change.closed': z.object({ changeId: idSchema, reason: z.string(), learnings: z.string().nullable() }),
  /** It was returned: to its author (`agentId`), or to a stand-in. */
  'change.returned': z.object({ changeId: idSchema, to: idSchema, reason: z.string() }),
  'review.started': z.object({ changeId: idSchema, reviewerId: idSchema, head: z.string() }),
  'review.ended': z.object({ changeId: idSchema, head: z.string(), blocking: z.number().int() }),
  /** Two branches conflict; `agentId` and `peerId` are their authors. */
  'conflict.predicted': z.object({ branches: z.tuple([z.string(), z.string()]), files: z.array(z.string()) }),
  'check.started': z.object({ checkId: idSchema, commit: z.string(), changes: z.array(idSchema) }),
  'check.ended': z.object({
    checkId: idSchema,
    commit: z.string(),
    outcome: z.enum(checkOutcomes),
    detail: z.string(),
    counts: testCountSchema.nullable(),
    /** It failed before, at the same tree. */
    flaky: z.boolean(),
  }),
  /** The target branch has moved: by the queue, to a checked commit, or by another push. */
  'main.advanced': z.object({ branch: z.string(), from: z.string(), to: z.string(), changes: z.array(idSchema) }),
  'main.moved': z.object({ branch: z.string(), from: z.string().nullable(), to: z.string() }),
  /** A green result cannot be merged yet, for this reason. */
  'queue.waiting': z.object({ reason: z.string() }),
  'queue.paused': z.object({ by: z.string() }),
  'queue.resumed': z.object({ by: z.string() }),
  /** A person allowed or forbade automatic pushes of this project's target branch. */
  'queue.push_allowed': z.object({ by: z.string() }),
  'queue.push_forbidden': z.object({ by: z.string() }),
  /** The local and remote target branch have diverged, or no longer do. */
  'queue.diverged': z.object({ branch: z.string(), local: z.string(), remote: z.string() }),
  'queue.converged': z.object({ branch: z.string() }),
  'emergency.started': z.object({ commit: z.string(), checkId: idSchema }),
  /** No agent could be started to repair main. */
  'emergency.stranded': z.object({ commit: z.string(), reason: z.string() }),
  'emergency.ended': z.object({ commit: z.string() }),
  'worktree.refreshed': z.object({ path: z.string(), from: z.string(), to: z.string() }),
  'agent.stopping': z.object({ by: z.string() }),
  /** The emergency brake: all working agents are being stopped. */
  'fleet.stopping': z.object({ by: z.string(), count: z.number().int(), agents: z.array(idSchema) }),
  'run.ended': z.object({
    status: z.enum(['completed', 'failed', 'cancelled']),
    detail: z.string().nullable(),
    /** How an autonomous agent ended its work, if it said so. */
    outcome: outcomeSchema.optional(),
  }),
} as const satisfies Record<string, z.ZodType>;

export type EventType = keyof typeof eventData;
export const eventTypes = Object.keys(eventData) as [EventType, ...EventType[]];

/** A stored fact, as it is streamed. */
export const eventSchema = z.object({
  seq: z.number().int().positive(),
  at: timeSchema,
  type: z.enum(eventTypes),
  projectId: idSchema.nullable(),
  agentId: idSchema.nullable(),
  /** The other side, if there are two, such as a mail's sender. Followers of either see it. */
  peerId: idSchema.nullable().default(null),
  data: z.record(z.string(), z.unknown()),
});
export type Event = z.infer<typeof eventSchema>;

/** An event before it is stored: the store adds `seq` and `at`. */
export type NewEvent = {
  [T in EventType]: {
    type: T;
    projectId?: string | null;
    agentId?: string | null;
    peerId?: string | null;
    data: z.infer<(typeof eventData)[T]>;
  };
}[EventType];

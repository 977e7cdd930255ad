import { cutText } from '@pawl/core/shorten';
import type { ContextQuery, RunContext, RunRecord } from '@pawl/protocol/runtime/view';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Message, Run } from '@pawl/schema/record';
import type { RunOutcome } from '@pawl/schema/runtime/runtime-event';
import { personName } from '@pawl/schema/runtime/runtime-event';
import { agentById } from '@pawl/store/agents/agents';
import { changesByAgent } from '@pawl/store/changes/changes';
import { runMessages } from '@pawl/store/sessions/messages';
import { listRuns, runById, runsBegunBy } from '@pawl/store/sessions/runs';
import type { Database } from '@pawl/store/tables';
import * as z from 'zod';

const usualRuns = 200;
const usualMessages = 200;

/** How many messages of a run are counted at the most. */
const countedMessages = limits.messagesPerSession;

/** The runs of a project or a chat thread, newest first. */
export async function listRunRecords(
  db: Database,
  filter: { projectId: string | undefined; sessionId: string | undefined; limit: number | undefined },
): Promise<RunRecord[]> {
  const { projectId, sessionId, limit = usualRuns } = filter;
  return recordsOf(db, await listRuns(db, { projectId, sessionId, limit }));
}

/** The runs that a run began. */
export async function childRecords(db: Database, runId: string): Promise<RunRecord[]> {
  await requiredRun(db, runId);
  return recordsOf(db, await runsBegunBy(db, runId));
}

export async function requiredRun(db: Database, runId: string): Promise<Run> {
  const run = await runById(db, runId);
  if (run !== null) return run;
  throw new PawlError('not_found', `There is no run ${JSON.stringify(runId.slice(0, 80))}.`, {
    hint: 'GET /api/agent-runs lists runs.',
  });
}

/** The messages and tool calls of a run: their counts and, with `raw`, each of them. */
export async function runContext(db: Database, query: ContextQuery): Promise<RunContext> {
  const run = await requiredRun(db, query.run_id);
  const messages = await runMessages(db, run.agentId, run.id, { afterId: 0, limit: countedMessages });
  const [record] = await recordsOf(db, [run]);
  if (record === undefined) throw new PawlError('agent_not_found', `There is no agent ${run.agentId}.`);
  return {
    run: record,
    summary: summaryOf(messages),
    tools: toolsOf(messages),
    artifacts: await artifactsOf(db, run),
    children: await childRecords(db, run.id),
    ...(query.view === 'raw' ? pageOf(messages, query, run) : {}),
  };
}

function summaryOf(messages: readonly Message[]): RunContext['summary'] {
  const count = (...kinds: Message['kind'][]) => messages.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    message_count: messages.length,
    user_messages: count('user'),
    agent_messages: count('assistant'),
    system_messages: count('system'),
    tool_calls: count('tool_call'),
  };
}

function toolsOf(messages: readonly Message[]): RunContext['tools'] {
  const failed = new Set(
    messages.filter(({ kind, data }) => kind === 'tool_result' && data?.['isError'] === true).map(callOf),
  );
  const tools = new Map<string, { name: string; calls: number; failed: number }>();
  for (const message of messages) {
    if (message.kind !== 'tool_call') continue;
    const { name = '' } = toolData.parse(message.data ?? {});
    const tool = tools.get(name) ?? { name, calls: 0, failed: 0 };
    tool.calls++;
    if (failed.has(callOf(message))) tool.failed++;
    tools.set(name, tool);
  }
  return [...tools.values()].toSorted((one, other) => other.calls - one.calls);
}

function callOf({ data }: Message): string {
  return toolData.parse(data ?? {}).toolId ?? '';
}

/** The data of a tool's call or result. */
const toolData = z.object({
  name: z.string().optional().catch(undefined),
  toolId: z.string().optional().catch(undefined),
});

async function artifactsOf(db: Database, run: Run): Promise<RunOutcome[]> {
  const until = run.endedAt ?? Number.POSITIVE_INFINITY;
  const changes = (await changesByAgent(db, run.agentId)).filter(
    // A change is opened shortly after the run that leads to it.
    ({ openedAt }) => openedAt >= run.startedAt && openedAt <= until + limits.leaveMs,
  );
  return changes.map(({ id, title, branch, head }) => ({ type: 'patch', change_id: id, title, branch, head }));
}

function pageOf(
  messages: readonly Message[],
  { after = 0, limit = usualMessages }: ContextQuery,
  run: Run,
): Pick<RunContext, 'messages' | 'more'> {
  const later = messages.filter(({ id }) => id > after);
  const shown = later.slice(0, limit).map(({ id, kind, content, createdAt }) => ({
    id,
    kind,
    from: kind === 'user' ? personName : run.agentId,
    content: plain(cutText(content, limits.messageCharacters)),
    timestamp: createdAt,
  }));
  return { messages: shown, more: later.length > limit };
}

/** Text without control characters, except tabs and line feeds. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  return text.toWellFormed().replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, '');
}

async function recordsOf(db: Database, runs: readonly Run[]): Promise<RunRecord[]> {
  const aliases = new Map<string, string>();
  for (const { agentId } of runs)
    if (!aliases.has(agentId)) aliases.set(agentId, (await agentById(db, agentId))?.alias ?? agentId);
  return runs.map((run) => ({
    run_id: run.id,
    repo_path: run.repoPath,
    session_id: run.sessionId,
    agent_id: run.agentId,
    agent: aliases.get(run.agentId) ?? run.agentId,
    agent_kind: run.agentKind,
    parent_run_id: run.parentRunId,
    status: run.outcome ?? 'running',
    detail: run.detail,
    started_at: run.startedAt,
    ended_at: run.endedAt,
  }));
}

import type { Client } from '@pawl/protocol/client';
import type { ChatAnswer, ChatBody } from '@pawl/protocol/runtime/view';
import type { OutputChunk } from '@pawl/protocol/sessions/view';
import { printable, printableLine } from '@pawl/present/text';
import { approvalText } from '@pawl/schema/approval/approval-text';
import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { follow } from '../../terminal/follow.ts';
import type { ApprovalWords } from './chat-words.ts';
import { letterFor } from './chat-words.ts';

/** The agent that a person talks to. */
export type Partner = { id: string; alias: string };

/** A request of the partner that waits for the person, and the options of `pawl reply` that answer it. */
export type PendingApproval = { id: string; options: string[] };

/** Shows a conversation. */
export type ChatScreen = {
  chunk(chunk: OutputChunk): void;
  /** One line or a few about the conversation itself. */
  note(text: string, tone: 'plain' | 'muted' | 'bad'): void;
  /** The status, the partner or the approvals have changed. */
  changed(): void;
};

export type Conversation = {
  partner(): Partner | null;
  isWorking(): boolean;
  status(): string;
  approval(): PendingApproval | null;
  say(text: string): Promise<void>;
  answer(words: ApprovalWords): Promise<void>;
  cancel(): Promise<void>;
  clear(): Promise<void>;
  /** Follows a partner from here on. */
  join(partner: Partner): Promise<void>;
  close(): void;
};

/** How much of an agent's output is searched for the place to begin. */
const recentChunks = 50;

type Sender = (body: ChatBody) => Promise<ChatAnswer>;

/** The state of a conversation. */
type State = {
  readonly client: () => Client;
  readonly screen: ChatScreen;
  partner: Partner | null;
  /** Ends the streams of the partner. */
  following: AbortController;
  /** The last chunk that was shown. */
  after: number | undefined;
  watching: boolean;
  status: string;
  approvals: PendingApproval[];
};

/** A conversation with one agent after the other. Shows what the agent says and does, and what it asks. */
export function openConversation(client: () => Client, send: Sender, screen: ChatScreen): Conversation {
  const state: State = {
    client,
    screen,
    partner: null,
    following: new AbortController(),
    after: undefined,
    watching: false,
    status: '',
    approvals: [],
  };
  return {
    partner: () => state.partner,
    isWorking: () => state.watching,
    status: () => state.status,
    approval: () => state.approvals[0] ?? null,
    say: (text) => say(state, send, text),
    async answer(words) {
      const [first] = state.approvals;
      if (first === undefined) return;
      await client().replyAgent(first.id, words, crypto.randomUUID());
      dropApproval(state, first.id);
    },
    async cancel() {
      if (state.partner === null) return;
      const { cancelled } = await client().cancelRun(state.partner.id);
      if (cancelled.length === 0) screen.note('There is no turn to cancel.', 'muted');
    },
    async clear() {
      if (state.partner === null) return;
      const { id, alias } = state.partner;
      await client().note(id, 'clear', {});
      screen.note(`${alias} has forgotten the conversation; pawl history --all shows it.`, 'muted');
    },
    async join(next) {
      await join(state, next, Date.now());
      const { agent } = await client().inspectAgent(next.id, { worktree: false });
      if (agent.run?.status === 'running') report(state, watch(state));
    },
    close: () => state.following.abort(),
  };
}

async function say(state: State, send: Sender, text: string): Promise<void> {
  const { screen, partner } = state;
  const since = Date.now();
  const answer = await send({ message: text, ...(partner === null ? {} : { agent_id: partner.id }) });
  if (answer.status === 'mode') return screen.note(`The mode of this project is ${answer.mode} now.`, 'muted');
  if (answer.agent_id === null || answer.agent === null) return;
  if (partner?.id !== answer.agent_id) {
    screen.note(`You talk to ${answer.agent} now.`, 'muted');
    await join(state, { id: answer.agent_id, alias: answer.agent }, since);
  }
  if (answer.status === 'queued') screen.note('It is busy, and gets this as soon as it can.', 'muted');
  report(state, watch(state));
}

/** Shows output until the agent is idle. Another turn starts another watch. */
async function watch(state: State): Promise<void> {
  const { screen, partner } = state;
  const { signal } = state.following;
  if (state.watching || partner === null) return;
  state.watching = true;
  screen.changed();
  const open = async () => {
    // A stream that we ended is not opened again.
    signal.throwIfAborted();
    const from = state.after === undefined ? {} : { after: state.after };
    return state.client().followOutput(partner.id, { ...from, format: 'events' }, signal);
  };
  try {
    await follow(open, (message) => {
      if (message.type === 'ended' || signal.aborted) return 'ended';
      state.after = message.chunk.id;
      state.status = statusAfter(message.chunk.events ?? []) ?? state.status;
      screen.chunk(message.chunk);
      screen.changed();
      return 'more';
    });
    if (!signal.aborted) await noteEnd(state, partner.id);
  } finally {
    // Another partner may be watched by now.
    if (!signal.aborted) {
      state.watching = false;
      state.status = '';
      screen.changed();
    }
  }
}

/** Says how a turn ended, unless it ended well. */
async function noteEnd({ client, screen }: State, id: string): Promise<void> {
  const { agent } = await client().inspectAgent(id, { worktree: false });
  const { run } = agent;
  if (run === null || run.status === 'running') return;
  for (const { question } of run.questions ?? []) screen.note(`asks: ${printable(question)}`, 'plain');
  if (run.status === 'cancelled') screen.note('The turn was cancelled.', 'muted');
  if (run.status === 'failed') screen.note(`The turn failed: ${printable(agent.detail)}`, 'bad');
}

/** Follows another agent, with its output since a time. */
async function join(state: State, next: Partner, since: number): Promise<void> {
  if (state.partner?.id === next.id) return;
  state.following.abort();
  state.following = new AbortController();
  Object.assign(state, { partner: next, watching: false, status: '', approvals: [] });
  const { chunks } = await state.client().output(next.id, { tail: recentChunks });
  state.after = chunks.findLast(({ at }) => at < since)?.id;
  report(state, followFacts(state, next.id));
  state.screen.changed();
}

/** Notices new turns and requests for approval, from now on. */
async function followFacts(state: State, id: string): Promise<void> {
  const { signal } = state.following;
  let { lastSeq } = await state.client().events({ agent: id, tail: 1 });
  for (const item of (await state.client().inbox()).items)
    if (item.kind === 'permission' && item.agent.id === id) await addApproval(state, item.id);
  await follow(
    async () => {
      signal.throwIfAborted();
      return state.client().followEvents(lastSeq, { agent: id }, signal);
    },
    (message) => {
      if (signal.aborted) return 'ended';
      if (message.type === 'gap') ({ lastSeq } = message);
      else {
        lastSeq = message.event.seq;
        report(state, noteEvent(state, message.event));
      }
      return 'more';
    },
  );
}

async function noteEvent(state: State, { type, data }: Event): Promise<void> {
  const { approvalId: id } = data;
  if (type === 'run.started') await watch(state);
  if (typeof id !== 'string' || type === 'approval.asked') return;
  if (type === 'approval.referred') await addApproval(state, id);
  else dropApproval(state, id);
}

async function addApproval(state: State, id: string): Promise<void> {
  const { client, screen, approvals } = state;
  if (approvals.some((each) => each.id === id)) return;
  const { approval } = await client().showApproval(id);
  if (approval.closedAt !== null) return;
  const { items } = await client().inbox();
  // Some options take a text, such as `--deny "why"`.
  const choices = (items.find((item) => item.id === id)?.choices ?? []).map(({ option, does }) => ({
    option: option.split(' ', 1)[0] ?? option,
    does,
  }));
  // Indented, so that an agent's text cannot imitate ours.
  const lines = printable(approvalText(approval)).trim().split('\n');
  const answers = choices.map(({ option, does }) => `${letterFor(option)}: ${printableLine(does)}`);
  screen.note(['It asks for permission:', ...lines, ...answers].join('\n  '), 'plain');
  approvals.push({ id, options: choices.map(({ option }) => option) });
  screen.changed();
}

function dropApproval(state: State, id: string): void {
  state.approvals = state.approvals.filter((each) => each.id !== id);
  state.screen.changed();
}

/** Shows the failure of work in the background. */
function report({ screen, following }: State, work: Promise<void>): void {
  const { signal } = following;
  work.catch((error: unknown) => {
    if (!signal.aborted) screen.note(printable(messageOf(error)), 'bad');
  });
}

/** The status that some output leads to; null if it says nothing about that. */
function statusAfter(events: readonly StreamEvent[]): string | null {
  let status: string | null = null;
  for (const event of events) {
    if (event.type === 'thinking') status = 'thinking';
    else if (event.type === 'tool-call') status = `calling ${printableLine(event.name)}`;
    else if (event.type === 'retry' || event.type === 'limit') status = 'waiting for the provider';
    else if (event.type === 'text' || event.type === 'text-delta' || event.type === 'tool-result') status = 'working';
  }
  return status;
}

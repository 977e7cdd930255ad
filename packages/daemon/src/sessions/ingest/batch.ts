import type { OutputParser } from '@pawl/core/port/provider';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, Chunk, Message, Session, Usage } from '@pawl/schema/record';
import type { SessionPatch } from '@pawl/store/sessions/sessions';
import type { ContextUsage } from '@pawl/schema/runtime/context-usage';
import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import type { RefusedHost } from '../../approvals/record-connection.ts';
import type { OutputEvidence } from '../../mail/evidence.ts';

/** A session whose output is ingested. */
export type IntakeTarget = {
  agent: Agent;
  session: Session;
  directory: string;
  parser: OutputParser;
  /** The usage that the provider had reported for the conversation before this session. */
  reportedBefore: Usage | null;
  /** Secrets to mask in its output. */
  secrets: readonly string[];
  /** The number of this session's messages in the history, and its running tools by call id. */
  messages: number;
  openTools: Map<string, string>;
  offsets: Record<Chunk['stream'], number>;
  /** How far the proxy's record of the session has been read. */
  proxyOffset: number;
};

/** The result of one read of the output files: to be stored in one transaction, then accepted. */
export type Batch = {
  chunks: { stream: Chunk['stream']; offset: number; bytes: Uint8Array }[];
  patch: SessionPatch;
  messages: SaidMessage[];
  /** How many of the last messages come from an unfinished line, which is read again after a crash. */
  unfinished: number;
  events: NewEvent[];
  /** Requests for approval and their withdrawal, in order. */
  approvals: ApprovalEvent[];
  /** Hosts that the proxy refused, since they are not listed. */
  connections: RefusedHost[];
  /** The mail that it proves delivered. */
  evidence: OutputEvidence;
  /** The offset of the next read of the proxy's record; null if it has nothing new. */
  proxyOffset: number | null;
  /** For those who follow agents live, in order. Not stored. */
  shown: Shown[];
  bytes: number;
};

/** Events for followers of an agent that are not stored: its activity, pieces of a text, and whole texts. */
export type Shown =
  | { type: 'status'; live: LiveState }
  | { type: 'token'; text: string }
  | { type: 'message'; text: string }
  | { type: 'context'; usage: ContextUsage };

export type ApprovalEvent = Extract<StreamEvent, { type: 'approval-request' | 'approval-cancel' }>;

/** A message for the agent's history; `body` is the whole of it as JSON, if its text has less. */
export type SaidMessage = Pick<Message, 'kind' | 'content' | 'data'> & { body?: string | undefined };

export function emptyBatch(): Batch {
  const evidence: OutputEvidence = { echoes: [], answered: 'no', before: null };
  const facts = { events: [], approvals: [], connections: [], evidence, proxyOffset: null, shown: [] };
  return { chunks: [], patch: {}, messages: [], unfinished: 0, ...facts, bytes: 0 };
}

export function isEmpty(batch: Batch): boolean {
  const { bytes, messages, events, approvals, proxyOffset } = batch;
  if (proxyOffset !== null) return false;
  const isSilent = messages.length + events.length + approvals.length === 0;
  return bytes === 0 && isSilent && Object.keys(batch.patch).length === 0;
}

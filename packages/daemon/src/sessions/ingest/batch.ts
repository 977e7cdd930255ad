import type { OutputParser } from '@pawl/core/port/provider';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, Chunk, Message, Session, Usage } from '@pawl/schema/record';
import type { SessionPatch } from '@pawl/store/sessions/sessions';
import type { OutputEvidence } from '../../mail/evidence.ts';

/** A session whose output is taken in. */
export type IntakeTarget = {
  agent: Agent;
  session: Session;
  directory: string;
  parser: OutputParser;
  /** What the provider had reported of the conversation before this session took it up. */
  reportedBefore: Usage | null;
  /** What must not stand in its output: it is masked there. */
  secrets: readonly string[];
  /** How many messages of this session are in the history, and which tools of it run: by call id, what they do. */
  messages: number;
  openTools: Map<string, string>;
  offsets: Record<Chunk['stream'], number>;
};

/** The result of one look at the output files: to be stored in one transaction, then accepted. */
export type Batch = {
  chunks: { stream: Chunk['stream']; offset: number; bytes: Uint8Array }[];
  patch: SessionPatch;
  messages: SaidMessage[];
  /** How many of the last messages come from a line without an end: after a crash it is read, and so said, again. */
  unfinished: number;
  events: NewEvent[];
  /** The mail that it shows to have arrived. */
  heard: OutputEvidence;
  bytes: number;
};

/** Something that became part of the agent's history. */
export type SaidMessage = Pick<Message, 'kind' | 'content' | 'data'>;

export function emptyBatch(): Batch {
  const heard: OutputEvidence = { echoes: [], answered: 'no', before: null };
  return { chunks: [], patch: {}, messages: [], unfinished: 0, events: [], heard, bytes: 0 };
}

export function isEmpty(batch: Batch): boolean {
  const { bytes, messages, events } = batch;
  return bytes === 0 && messages.length === 0 && events.length === 0 && Object.keys(batch.patch).length === 0;
}

import type { Message } from './message.ts';

/** A conversation that this process alone writes. Everything is durable when a method returns. */
export type OpenConversation = {
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** The calls that began to run. */
  readonly started: ReadonlySet<string>;
  append(message: Message): void;
  start(callId: string): void;
  close(): void;
};

/** Where conversations are kept. */
export type ConversationStore = {
  /** Begins a conversation, or throws `conflict` if the id is in use. */
  create(sessionId: string): OpenConversation;
  /** Opens one to go on with it; null if there is none. Throws `busy` if another process has it open. */
  open(sessionId: string): OpenConversation | null;
  /** Begins a copy of a conversation under a new id; null if there is none. The original may be in use. */
  fork(sessionId: string, newId: string): OpenConversation | null;
};

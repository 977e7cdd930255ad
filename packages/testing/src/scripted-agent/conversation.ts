import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { isSessionId } from './arguments.ts';
import { scriptedLimits } from './limit.ts';
import { taskOf } from './placeholder.ts';

/**
 * The state of a conversation between processes. Written after every step, so that a killed process resumes after the
 * last finished step.
 */
export type Conversation = {
  sessionId: string;
  /** Absolute path of the scenario, or null for the built-in one. */
  scenario: string | null;
  /** Index of the next step in the unrolled scenario. */
  next: number;
  /** The number of user turns. */
  turnsSeen: number;
  /** The first user turn. */
  task: string;
  /** The latest user turns, oldest first. */
  turns: string[];
  /** The ids of the latest user turns: a repeated one is not taken in again. */
  uuids: string[];
  /** The ids of the latest mails in user turns, in order, with repetitions. */
  letters: string[];
  /** Files written since the last commit, relative to the working directory. */
  written: string[];
  /** True while a step calls Pawl, which may be forking this conversation. */
  calling: boolean;
};

/** An empty conversation. It is stored with its first user turn. */
export function newConversation(sessionId: string, scenario: string | null): Conversation {
  const nothing = { turns: [], uuids: [], letters: [], written: [] };
  return { sessionId, scenario, next: 0, turnsSeen: 0, task: '', ...nothing, calling: false };
}

/**
 * A copy under its own id. It continues after an unfinished call of Pawl, like a forked process: otherwise a step that
 * forks would fork again in every copy. Another scenario starts at its beginning.
 */
export function forkConversation(original: Conversation, sessionId: string, scenario: string | null): Conversation {
  const next = scenario === original.scenario ? original.next + (original.calling ? 1 : 0) : 0;
  return { ...original, sessionId, scenario, next, calling: false };
}

/** The directory of the conversations. */
export function stateDirectory(): string {
  const named = process.env['PAWL_SCRIPTED_STATE'];
  return named ? resolve(named) : join(homedir(), '.pawl-scripted');
}

/**
 * Adds a user turn, cut to a limit: the file is written after every step. Returns false and adds nothing for a repeated
 * id.
 */
export function addTurn(conversation: Conversation, prompt: string, uuid: string | null = null): boolean {
  if (uuid !== null && conversation.uuids.includes(uuid)) return false;
  if (uuid !== null) conversation.uuids = [...conversation.uuids, uuid].slice(-scriptedLimits.uuidsKept);
  const letters = Array.from(prompt.matchAll(letter), ([, id = '']) => id);
  if (letters.length > 0)
    conversation.letters = [...conversation.letters, ...letters].slice(-scriptedLimits.lettersKept);
  if (conversation.turnsSeen === 0) conversation.task = prompt.slice(0, scriptedLimits.taskCharacters);
  conversation.turnsSeen += 1;
  const excerpt = taskOf(prompt).slice(0, scriptedLimits.turnCharacters);
  conversation.turns = [...conversation.turns, excerpt].slice(-scriptedLimits.turnsKept);
  return true;
}

/** The beginning of a mail as Pawl shows it to its recipient. */
const letter = /^<letter id="([\w-]{1,64})"/gm;

/** Stores the conversation atomically. */
export function saveConversation(directory: string, conversation: Conversation): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = fileOf(directory, conversation.sessionId);
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify({ version: 1, ...conversation })}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/** The stored conversation, or undefined. A damaged file is an error. */
export function loadConversation(directory: string, sessionId: string): Conversation | undefined {
  if (!isSessionId(sessionId)) return undefined;
  const file = fileOf(directory, sessionId);
  try {
    if (statSync(file).size > scriptedLimits.conversationBytes) throw damaged(file);
    return parseConversation(readFileSync(file, 'utf8'), sessionId);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (error instanceof PawlError) throw error;
    throw damaged(file, error);
  }
}

function fileOf(directory: string, sessionId: string): string {
  return join(directory, `${sessionId.toLowerCase()}.json`);
}

/** Validated by hand: a schema library would cost more than the rest of the start. */
function parseConversation(text: string, sessionId: string): Conversation {
  const value = JSON.parse(text) as Partial<Record<keyof Conversation, unknown>>;
  const { scenario, next, turnsSeen, task, turns, written, uuids = [], letters = [], calling = false } = value;
  if (!(scenario === null || typeof scenario === 'string')) throw new TypeError('scenario');
  if (!isCount(next) || !isCount(turnsSeen)) throw new TypeError('next or turnsSeen');
  if (typeof task !== 'string' || !isTexts(turns) || !isTexts(written)) throw new TypeError('task, turns or written');
  if (!isTexts(uuids) || !isTexts(letters)) throw new TypeError('uuids or letters');
  if (typeof calling !== 'boolean') throw new TypeError('calling');
  return { sessionId, scenario, next, turnsSeen, task, turns, uuids, letters, written, calling };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function damaged(file: string, cause?: unknown): PawlError {
  return new PawlError('conflict', `The conversation file ${file} is damaged.`, {
    hint: 'Remove it and start a new conversation.',
    cause,
  });
}

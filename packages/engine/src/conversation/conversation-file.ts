import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { parseObject } from '@pawl/wire/json-line';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { ConversationStore, OpenConversation } from './conversation-store.ts';
import type { Message } from './message.ts';
import { messageSchema } from './message.ts';

/** A line of a conversation file. */
const entrySchema = z.union([
  z.strictObject({ message: messageSchema }),
  z.strictObject({ started: z.string() }),
  z.strictObject({ version: z.literal(1) }),
]);
type Entry = z.infer<typeof entrySchema>;

const sessionIds = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True for an id that is safe as a file name. */
export function isSessionId(id: string): boolean {
  return sessionIds.test(id);
}

/** Keeps each conversation in a file of JSON lines that only grows. */
export function conversationFiles(directory: string): ConversationStore {
  const fileOf = (sessionId: string) => join(directory, `${sessionId.toLowerCase()}.jsonl`);
  const begin = (sessionId: string, entries: Entry[]): OpenConversation => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = fileOf(sessionId);
    const release = lock(`${file}.lock`, sessionId);
    try {
      const text = [{ version: 1 as const }, ...entries].map(lineOf).join('');
      writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      release();
      if (!hasErrno(error, 'EEXIST')) throw error;
      throw new PawlError('conflict', `Session ID ${sessionId} is already in use.`, {
        hint: 'Go on with it by --resume, or choose another id.',
      });
    }
    return opened(sessionId, file, entries, release);
  };
  return {
    create: (sessionId) => begin(sessionId, []),
    open(sessionId) {
      if (!isSessionId(sessionId) || read(fileOf(sessionId)) === null) return null;
      const file = fileOf(sessionId);
      const release = lock(`${file}.lock`, sessionId);
      const content = read(file);
      if (content === null) return null;
      dropTornLine(file, content.wholeBytes);
      return opened(sessionId, file, content.entries, release);
    },
    fork(sessionId, newId) {
      const content = isSessionId(sessionId) ? read(fileOf(sessionId)) : null;
      return content === null
        ? null
        : begin(
            newId,
            content.entries.filter((entry) => !('version' in entry)),
          );
    },
  };
}

function opened(sessionId: string, file: string, entries: Entry[], release: () => void): OpenConversation {
  const messages = entries.flatMap((entry) => ('message' in entry ? [entry.message] : []));
  const started = new Set(entries.flatMap((entry) => ('started' in entry ? [entry.started] : [])));
  const add = (entry: Entry) => appendFileSync(file, lineOf(entry), { mode: 0o600 });
  return {
    sessionId,
    messages,
    started,
    append(message: Message) {
      add({ message });
      messages.push(message);
    },
    start(callId) {
      add({ started: callId });
      started.add(callId);
    },
    close: release,
  };
}

function lineOf(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The entries of a file, and where its last whole line ends; null if there is none. */
function read(file: string): { entries: Entry[]; wholeBytes: number } | null {
  try {
    if (statSync(file).size > engineLimits.conversationBytes) throw damaged(file, 'it is too large');
    const bytes = readFileSync(file);
    // A process that was killed while it wrote leaves a torn line.
    const wholeBytes = bytes.lastIndexOf(10) + 1;
    const lines = bytes.subarray(0, wholeBytes).toString('utf8').split('\n').slice(0, -1);
    return { entries: lines.map((line) => parseEntry(line, file)), wholeBytes };
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

function parseEntry(line: string, file: string): Entry {
  const parsed = entrySchema.safeParse(parseObject(line));
  if (!parsed.success) throw damaged(file, 'a line cannot be read');
  return parsed.data;
}

function dropTornLine(file: string, wholeBytes: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    ftruncateSync(descriptor, wholeBytes);
  } finally {
    closeSync(descriptor);
  }
}

function damaged(file: string, why: string): PawlError {
  return new PawlError('conflict', `The conversation file ${file} is damaged: ${why}.`, {
    hint: 'Remove it and start a new conversation.',
  });
}

/** Locks a conversation for this process, or throws `busy`. A lock of a process that has ended does not count. */
function lock(path: string, sessionId: string): () => void {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
      const holder = holderOf(path);
      if (holder !== null && holder !== process.pid && isAlive(holder)) break;
      rmSync(path, { force: true });
    }
  }
  throw new PawlError('busy', `The conversation ${sessionId} is open in another process.`, {
    hint: 'Wait until it ends, or fork the conversation.',
  });
}

function holderOf(path: string): number | null {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrno(error, 'EPERM');
  }
}

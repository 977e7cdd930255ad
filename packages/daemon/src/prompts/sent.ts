import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import type { PromptView } from '@pawl/protocol/view/prompt';
import { readSmallFile, sessionFile } from '@pawl/host/session/session-files';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { sessionsOf } from '@pawl/store/sessions/sessions';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Platform } from '../platform/platform.ts';
import { sessionDirectory } from '../platform/platform.ts';

/** What was given to a session, as it went in: `system` is empty where all of it was the first turn. */
export type SentPrompt = { system: string; turn: string };

const sentSchema = z.object({ system: z.string(), turn: z.string() });
const fileName = 'prompt.json';

/** The largest file that is read: a prompt with the largest task and transcript, each character escaped. */
const fileBytes = 16 * 1024 * 1024;

/** Keeps what a session was given in its directory, for nobody but its owner. Writing it again changes nothing. */
export async function writePrompt(directory: string, { system, turn }: SentPrompt): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, fileName);
  await writeFile(`${path}.tmp`, JSON.stringify({ system, turn }), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

/** What a session was given, or null when there is nothing to be read. The agent can write there: it may be anything. */
export function readPrompt(directory: string): SentPrompt | null {
  const text = readSmallFile(join(directory, fileName), fileBytes);
  if (text !== null) {
    try {
      return sentSchema.parse(JSON.parse(text));
    } catch {
      return null;
    }
  }
  // Sessions of earlier versions have only what was put on their input.
  const input = readSmallFile(sessionFile(directory, 'prompt'), fileBytes);
  return input === null ? null : { system: '', turn: input };
}

/** What an agent was told at the beginning of a session, by default the latest that began; as much as is shown of it. */
export async function sentPrompt(platform: Platform, agent: Agent, no: number | undefined): Promise<PromptView> {
  const sessions = (await sessionsOf(platform.store.db, agent.id)).toSorted((a, b) => b.no - a.no);
  const candidates = no === undefined ? sessions : sessions.filter((session) => session.no === no);
  for (const { id, no: number, purpose, conversation } of candidates) {
    const sent = readPrompt(sessionDirectory(platform.home, id));
    if (sent === null) continue;
    const bytes = Buffer.byteLength(sent.system) + Buffer.byteLength(sent.turn);
    const system = firstBytes(sent.system, promptLimits.shownPromptBytes);
    const turn = firstBytes(sent.turn, promptLimits.shownPromptBytes - Buffer.byteLength(system));
    const truncated = system.length + turn.length < sent.system.length + sent.turn.length;
    return { agentId: agent.id, session: { no: number, purpose, conversation }, system, turn, bytes, truncated };
  }
  const which = no === undefined ? 'no session' : `no session ${no}`;
  throw new PawlError('not_found', `${agent.alias} has ${which} that was told anything.`, {
    hint: `Its sessions are listed by: pawl inspect ${agent.alias}`,
  });
}

/** The beginning of a text that has at most so many bytes; a character is never cut in two. */
export function firstBytes(text: string, bytes: number): string {
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  // With `stream`, a character that is not complete is not decoded.
  return new TextDecoder().decode(all.subarray(0, bytes), { stream: true });
}

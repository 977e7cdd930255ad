import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import type { PromptView } from '@pawl/protocol/prompts/view';
import { readSmallFile, sessionFile } from '@pawl/host/session/session-files';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { sessionsOf } from '@pawl/store/sessions/sessions';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Platform } from '../platform/platform.ts';
import { sessionDirectory } from '../platform/platform.ts';

/** The prompt of a session as sent; `system` is empty if everything was in the first turn. */
export type SentPrompt = { system: string; turn: string };

const sentSchema = z.object({ system: z.string(), turn: z.string() });
const fileName = 'prompt.json';

/** The largest file that is read: a prompt with the largest task and transcript, each character escaped. */
const fileBytes = 16 * 1024 * 1024;

/** Stores a session's prompt in its directory, readable by its owner only. Writing it again changes nothing. */
export async function writePrompt(directory: string, { system, turn }: SentPrompt): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, fileName);
  await writeFile(`${path}.tmp`, JSON.stringify({ system, turn }), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

/** Reads a session's prompt, or null. The agent can write there, so the content is untrusted. */
export function readPrompt(directory: string): SentPrompt | null {
  const text = readSmallFile(join(directory, fileName), fileBytes);
  if (text !== null) {
    try {
      return sentSchema.parse(JSON.parse(text));
    } catch {
      return null;
    }
  }
  // Sessions of earlier versions have only their input.
  const input = readSmallFile(sessionFile(directory, 'prompt'), fileBytes);
  return input === null ? null : { system: '', turn: input };
}

/** The prompt at the start of a session, by default the latest, cut to what is shown. */
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
  throw new PawlError('not_found', `${agent.alias} has ${which} with a prompt.`, {
    hint: `List its sessions: pawl inspect ${agent.alias}`,
  });
}

/** The longest prefix of at most so many bytes that cuts no character in two. */
export function firstBytes(text: string, bytes: number): string {
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  // With `stream`, an incomplete character is not decoded.
  return new TextDecoder().decode(all.subarray(0, bytes), { stream: true });
}

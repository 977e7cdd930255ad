import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrno, messageOf } from '@pawl/schema/error';
import { scriptedLimits } from '../limit.ts';
import { firstLine } from '../placeholder.ts';
import type { StepPlayer } from '../play.ts';
import { pass } from '../play.ts';

export const playSay: StepPlayer<'say'> = async (play, text) => {
  await play.writer.say(text);
  return undefined;
};

export const playThink: StepPlayer<'think'> = async (play, text) => {
  await play.writer.think(text);
  return undefined;
};

/** Repeats the latest prompt whole, which proves that it arrived whole. */
export const playEchoPrompt: StepPlayer<'echo_prompt'> = async (play) => {
  await play.writer.say(play.latestPrompt);
  return undefined;
};

export const playPrintEnv: StepPlayer<'print_env'> = async (play, name) => {
  const value = process.env[name];
  await play.writer.say(value === undefined ? `${name} is not set` : `${name}=${value}`);
  return undefined;
};

export const playUsage: StepPlayer<'usage'> = async (play, { input, output, cache, cost }) => {
  play.writer.tellUsage(input, output, cache, cost);
  return undefined;
};

export const playSleep: StepPlayer<'sleep'> = async (play, durationMs) => {
  await pass(play, durationMs);
  return undefined;
};

/** Prints every user turn of the conversation, which proves what a copy of it has inherited. */
export const playRecall: StepPlayer<'recall'> = async (play) => {
  await play.writer.say(play.conversation.turns.map(firstLine).join('\n'));
  return undefined;
};

/** Says the id of every mail that the conversation was handed, one line each, in the order in which they came. */
export const playInbox: StepPlayer<'inbox'> = async (play) => {
  await play.writer.say(play.conversation.letters.join('\n'));
  return undefined;
};

/** Writes a text slowly, so that its half-written state can be seen. */
export const playStream: StepPlayer<'stream'> = async (play, { text, for: durationMs, pieces: count }) => {
  const pieces = cut(text, count);
  await play.writer.stream(pieces, () => pass(play, durationMs / pieces.length));
  return undefined;
};

/** Cuts a text into this many pieces of about the same length, or one for each character when it has fewer. */
function cut(text: string, count: number): string[] {
  const characters = Array.from(text);
  const pieces = Math.max(1, Math.min(count, characters.length));
  const edge = (piece: number) => Math.round((piece * characters.length) / pieces);
  return Array.from({ length: pieces }, (_, piece) => characters.slice(edge(piece), edge(piece + 1)).join(''));
}

/** Lists `.pawl/input/` as a tool would, and says what its manifest names. */
export const playReadInputs: StepPlayer<'read_inputs'> = async (play) => {
  const directory = join(play.directory, '.pawl', 'input');
  const listing = await play.writer.useTool('Bash', { command: 'find .pawl/input -type f' }, () => {
    try {
      return { text: listFiles(directory).join('\n'), failed: false };
    } catch (error) {
      return { text: messageOf(error), failed: true };
    }
  });
  if (!listing.failed) await play.writer.say(describeManifest(join(directory, 'manifest.json')));
  return undefined;
};

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted()
    .slice(0, scriptedLimits.inputFiles);
}

/** Names each text and each list of texts in the manifest, such as `agentName: quick-fox`. */
function describeManifest(path: string): string {
  try {
    if (statSync(path).size > scriptedLimits.manifestBytes) return 'The manifest is too large to read.';
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (manifest === null || typeof manifest !== 'object') return 'The manifest is not an object.';
    const lines = Object.entries(manifest).flatMap(([key, value]: [string, unknown]) => {
      if (typeof value === 'string') return [`${key}: ${value}`];
      return Array.isArray(value) ? [`${key}: ${value.filter((item) => typeof item === 'string').join(', ')}`] : [];
    });
    return ['The manifest names', ...lines].join('\n');
  } catch (error) {
    return hasErrno(error, 'ENOENT') ? 'There is no manifest.' : `The manifest cannot be read: ${messageOf(error)}`;
  }
}

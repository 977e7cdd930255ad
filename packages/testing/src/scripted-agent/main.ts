import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { noTokens } from '@pawl/wire/claude-line';
import type { Arguments } from './arguments.ts';
import { parseArguments, usageText } from './arguments.ts';
import type { Conversation } from './conversation.ts';
import {
  forkConversation,
  loadConversation,
  newConversation,
  saveConversation,
  stateDirectory,
} from './conversation.ts';
import { describeFailure } from './failure.ts';
import { readerGone, report, writeLineNow } from './output.ts';
import { allowsTool } from './tool-permission.ts';
import { firstLine, lastLine } from './speaker.ts';

/**
 * Plays a scenario as a coding agent would. Returns the exit code; the caller must exit with it, because stdin and
 * timers may still be open. Writes the first line before loading anything else.
 */
export async function main(argv: string[]): Promise<number> {
  try {
    const options = parseArguments(argv);
    if (options.help) {
      process.stdout.write(usageText);
      return 0;
    }
    const conversation = openConversation(options);
    if (conversation === undefined) return refuseResume(options);
    const directory = process.cwd();
    const speaker = { sessionId: conversation.sessionId, model: options.model };
    const isAllowed = (tool: string) => allowsTool(options.permission, tool);
    if (!writeLineNow(firstLine(speaker, directory, isAllowed))) return readerGone;
    const { runSession } = await import('./session.ts');
    return await runSession(options, conversation, directory);
  } catch (error) {
    const { text, code } = describeFailure(error);
    report(text);
    return code;
  }
}

/** The conversation of the command line, or undefined if it should be resumed and does not exist. */
function openConversation(options: Arguments): Conversation | undefined {
  const state = stateDirectory();
  const scenario = options.scenario === undefined ? undefined : resolve(options.scenario);
  if (options.sessionId !== undefined && loadConversation(state, options.sessionId) !== undefined) {
    throw new PawlError('conflict', `Session ID ${options.sessionId} is already in use.`, {
      hint: 'Go on with it by --resume, or choose another id.',
    });
  }
  if (options.resume === undefined) return newConversation(options.sessionId ?? randomUUID(), scenario ?? null);
  const stored = loadConversation(state, options.resume);
  if (stored === undefined) return undefined;
  if (!options.forkSession) return { ...stored, scenario: scenario ?? stored.scenario, calling: false };
  const forked = forkConversation(stored, options.sessionId ?? randomUUID(), scenario ?? stored.scenario);
  saveConversation(state, forked);
  return forked;
}

function refuseResume(options: Arguments): number {
  const sessionId = options.resume ?? '';
  const text = `No conversation found with session ID: ${sessionId}`;
  const numbers = { durationMs: 0, messages: 0, costUsd: 0, usage: noTokens() };
  report(text);
  writeLineNow(
    lastLine(sessionId, { subtype: 'error_during_execution', isError: true, text, errors: [text] }, numbers),
  );
  return 1;
}

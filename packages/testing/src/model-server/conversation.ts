import type { Json } from './json.ts';
import { isPoll } from './poll.ts';

/** A tool that the client offers, in no vendor's words. */
export type OfferedTool = {
  name: string;
  /** The group that the client put it in, where it has groups; a call has to name it again. */
  namespace?: string;
  /** The JSON schema of its input. */
  schema: Json;
  /** The tool that runs scripts, where this one can be called from such a script only. */
  script?: { name: string; namespace?: string };
};

/** A tool's name with its group, such as `mcp__server__tool`. */
export function fullName({ name, namespace }: OfferedTool): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/**
 * What was said so far, in no vendor's words. What a CLI slips into the user's messages by itself (reminders, its
 * surroundings, instruction files) is not the user's and is left out.
 */
export type Entry =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: { name: string; input: Json }[] }
  | { role: 'tool'; text: string };

/** A request for an answer, in no vendor's words. */
export type Conversation = {
  model: string;
  stream: boolean;
  entries: Entry[];
  tools: OfferedTool[];
  /** The JSON schema that the answer has to have, if any. */
  answerSchema: Json | null;
  /** True when the client wants to see what the model thinks. */
  thinking: boolean;
  /** Where the client says that it works, if it says so. */
  directory: string | null;
};

/** Where a conversation stands. Everything the server does follows from this, so it needs no memory. */
export type Standing = {
  /** How often the user has spoken. */
  userTurns: number;
  first: string;
  last: string;
  /** Answers since the user last spoke: which step is next. */
  answers: number;
  /** What the latest tool returned since the user last spoke. */
  result: string;
};

/** Where a conversation stands, from nothing but itself. */
export function standingOf(entries: Entry[]): Standing {
  const standing: Standing = { userTurns: 0, first: '', last: '', answers: 0, result: '' };
  for (const entry of entries) {
    if (entry.role === 'user') {
      standing.userTurns += 1;
      if (standing.userTurns === 1) standing.first = entry.text;
      Object.assign(standing, { last: entry.text, answers: 0, result: '' });
    } else if (entry.role === 'assistant') {
      if (entry.calls.length === 0 || !entry.calls.every(isPoll)) standing.answers += 1;
    } else {
      standing.result = entry.text;
    }
  }
  return standing;
}

/** Adds to an answer: vendors that list text and calls one by one mean one answer by all of them. */
export function addToAnswer(entries: Entry[], text: string, calls: { name: string; input: Json }[] = []): void {
  const latest = entries.at(-1);
  if (latest?.role === 'assistant') {
    latest.text = [latest.text, text].filter((part) => part !== '').join('\n');
    latest.calls.push(...calls);
  } else {
    entries.push({ role: 'assistant', text, calls: [...calls] });
  }
}

/** Adds what the user said; text that the client itself put there is no turn. */
export function addUserText(entries: Entry[], text: string): void {
  const own = withoutInjected(text);
  if (own !== '') entries.push({ role: 'user', text: own });
}

const injectedBlocks =
  /<(system-reminder|environment_context|user_instructions|permissions instructions|session_context|INSTRUCTIONS|turn_aborted|skills_instructions)\b[^>]*>[^]*?<\/\1>/g;
const injectedOpenings = ['# AGENTS.md instructions', 'This is the Gemini CLI.', 'This is the Qwen Code.'];

const interjection = /The user sent (?:a new|the following) message[^\n]*:\n([^]*?)(?=\n\n|<\/system-reminder>|$)/g;

/** Adds what the user said while the model was at work, which some CLIs tell the model in words of their own. */
export function addInterjections(entries: Entry[], text: string): void {
  for (const [, said = ''] of text.matchAll(interjection)) addUserText(entries, said);
}

/** A user's message without what the CLI added to it; empty when nothing is left. */
export function withoutInjected(text: string): string {
  const own = text.replaceAll(injectedBlocks, '').trim();
  return injectedOpenings.some((opening) => own.startsWith(opening)) ? '' : own;
}

const directoryPatterns = [
  /<cwd>(\/[^<\n]+)<\/cwd>/,
  /working director(?:y|ies)[^\n/]{0,40}?:?\s+[`"']?(\/[^\n`"']+)/i,
  /currently working in the directory:?\s+(\/[^\n]+)/i,
];

/** The directory that a CLI says it works in, which some tools want in front of every path. */
export function directoryIn(...texts: string[]): string | null {
  for (const text of texts) {
    for (const pattern of directoryPatterns) {
      const found = pattern.exec(text)?.[1]?.trim();
      if (found !== undefined && found !== '') return found.replace(/[.,;]$/, '');
    }
  }
  return null;
}

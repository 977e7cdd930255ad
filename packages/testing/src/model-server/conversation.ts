import type { Json } from './json.ts';
import { isPoll } from './poll.ts';

/** A tool offered by the client, vendor-neutral. */
export type OfferedTool = {
  name: string;
  /** Its group, if the client uses groups; a call must name it again. */
  namespace?: string;
  /** The JSON schema of its input. */
  schema: Json;
  /** The script tool, if this one can be called only from such a script. */
  script?: { name: string; namespace?: string };
};

/** A tool's name with its group, such as `mcp__server__tool`. */
export function fullName({ name, namespace }: OfferedTool): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/**
 * The conversation so far, vendor-neutral. Leaves out what a CLI itself inserts into user messages (reminders,
 * environment, instruction files).
 */
export type Entry =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: { name: string; input: Json }[] }
  | { role: 'tool'; text: string };

/** A request for an answer, vendor-neutral. */
export type Conversation = {
  model: string;
  stream: boolean;
  entries: Entry[];
  tools: OfferedTool[];
  /** The required JSON schema of the answer, if any. */
  answerSchema: Json | null;
  /** True if the client wants to see the model's thinking. */
  thinking: boolean;
  /** The client's reported working directory, if any. */
  directory: string | null;
};

/** The position in a conversation. Everything the server does follows from this, so it is stateless. */
export type Standing = {
  /** The number of user turns. */
  userTurns: number;
  first: string;
  last: string;
  /** Answers since the last user turn: the next step. */
  answers: number;
  /** The latest tool result since the last user turn. */
  result: string;
};

/** Derives the position from the conversation alone. */
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

/** Adds to an answer: vendors that list text and calls separately mean one answer. */
export function addToAnswer(entries: Entry[], text: string, calls: { name: string; input: Json }[] = []): void {
  const latest = entries.at(-1);
  if (latest?.role === 'assistant') {
    latest.text = [latest.text, text].filter((part) => part !== '').join('\n');
    latest.calls.push(...calls);
  } else {
    entries.push({ role: 'assistant', text, calls: [...calls] });
  }
}

/** Adds a user message; text inserted by the client is not a turn. */
export function addUserText(entries: Entry[], text: string): void {
  const own = withoutInjected(text);
  if (own !== '') entries.push({ role: 'user', text: own });
}

const injectedBlocks =
  /<(system-reminder|environment_context|user_instructions|permissions instructions|session_context|INSTRUCTIONS|turn_aborted|skills_instructions)\b[^>]*>[^]*?<\/\1>/g;
const injectedOpenings = ['# AGENTS.md instructions', 'This is the Gemini CLI.', 'This is the Qwen Code.'];

const interjection = /The user sent (?:a new|the following) message[^\n]*:\n([^]*?)(?=\n\n|<\/system-reminder>|$)/g;

/** Adds a user message sent during a turn, which some CLIs wrap in words of their own. */
export function addInterjections(entries: Entry[], text: string): void {
  for (const [, said = ''] of text.matchAll(interjection)) addUserText(entries, said);
}

/** A user message without the CLI's additions; may be empty. */
export function withoutInjected(text: string): string {
  const own = text.replaceAll(injectedBlocks, '').trim();
  return injectedOpenings.some((opening) => own.startsWith(opening)) ? '' : own;
}

const directoryPatterns = [
  /<cwd>(\/[^<\n]+)<\/cwd>/,
  /working director(?:y|ies)[^\n/]{0,40}?:?\s+[`"']?(\/[^\n`"']+)/i,
  /currently working in the directory:?\s+(\/[^\n]+)/i,
];

/** The working directory that a CLI reports, which some tools want before every path. */
export function directoryIn(...texts: string[]): string | null {
  for (const text of texts) {
    for (const pattern of directoryPatterns) {
      const found = pattern.exec(text)?.[1]?.trim();
      if (found !== undefined && found !== '') return found.replace(/[.,;]$/, '');
    }
  }
  return null;
}

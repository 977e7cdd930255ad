import type { Agent, Run } from '@pawl/schema/record';
import { fillPlaceholders } from './input-files.ts';

const signalFormat = `<signal_format>
When you have finished, write the file .pawl/output/signal.json as your very last act:
{"status":"done","result":"one paragraph on what you did"}
If you cannot go on without a person: {"status":"questions","questions":[{"id":"q1","question":"…"}]}
If the task cannot be done: {"status":"error","error":"why"}
</signal_format>`;

/**
 * What a session is told that its provider has no memory for: who the agent is, what came before, its task, how it says
 * that it is done, and where it is. A notice says why it begins anew, where that is not the beginning of the run.
 */
export function workPrompt(
  agent: Agent,
  run: Run,
  { transcript = null, notice = null }: { transcript?: string | null; notice?: string | null } = {},
): string {
  return prompt([role(agent, run), past(transcript), notice, task(agent, run), signalFormat, workspace(agent)]);
}

/** What an agent is told that goes on with its conversation: the next thing to do. */
export function nextTaskPrompt(agent: Agent, run: Run): string {
  return prompt([task(agent, run), signalFormat]);
}

/** What an agent is told whose process was lost with the machine, and whose provider remembers the rest. */
export function interruptedPrompt(agent: Agent, run: Run): string {
  return prompt([interruptedNotice, task(agent, run), signalFormat]);
}

/** What an agent is told that ended its turn without a signal. */
export function missingSignalPrompt(): string {
  return prompt([missingSignalNotice, signalFormat]);
}

export const missingSignalNotice = `You ended your turn without writing .pawl/output/signal.json, so nobody can tell whether the work is done.
Finish what is left, commit it, and then write the signal.`;

export const interruptedNotice = block(
  'interrupted',
  `You were interrupted: the machine or the program that ran you went down in the middle of your turn. A tool that was
running may have done all, some or none of its work. Look at the state of your worktree first (git status, git log), then
go on with the task.`,
);

function role(agent: Agent, { definition }: Run): string | null {
  if (definition === null || definition.prompt.trim() === '') return null;
  return block('role', fillPlaceholders(definition.prompt, agent));
}

function task(agent: Agent, run: Run): string {
  return block('task', fillPlaceholders(run.task, agent));
}

const pastTag = 'conversation_so_far';
const ownTag = /<(\s*\/?\s*(?:conversation_so_far|role|task|interrupted|signal_format|workspace)\b)/gi;

/** What was said before: its words are no placeholders, and nothing in them can be taken for a part of the prompt. */
function past(transcript: string | null): string | null {
  return transcript === null ? null : block(pastTag, transcript.replaceAll(ownTag, '&lt;$1'));
}

function workspace(agent: Agent): string {
  return block(
    'workspace',
    `You are ${agent.alias}. You work alone in your own git worktree, on the branch ${agent.branch ?? '(none)'}.
Commit your work there in small steps. Your assignment is also in .pawl/input/ (see manifest.json).`,
  );
}

function prompt(parts: (string | null)[]): string {
  return `${parts.filter((part) => part !== null).join('\n\n')}\n`;
}

function block(tag: string, text: string): string {
  return `<${tag}>\n${text.trim()}\n</${tag}>`;
}

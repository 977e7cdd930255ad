import type { Agent, Run } from '@pawl/schema/record';
import type { ProjectPlace } from '../sessions/input-files.ts';
import { fillPlaceholders } from '../sessions/input-files.ts';
import { directoryOf } from '@pawl/schema/place';
import { cutText } from '../shorten.ts';
import { endsTurnByResult } from '../agents/work-mode.ts';
import type { PromptAssets } from './assets.ts';
import { askedTags, chatHistoryTag, roleTag } from './assets.ts';
import { commandLines, communicationText } from './communication.ts';
import { promptLimits } from './prompt-limit.ts';
import { addedTags, block } from './tag.ts';

/** A session's prompt: as one text, and split for CLIs that take a system prompt. */
export type Prompt = {
  /** Everything that does not depend on this run. */
  system: string;
  /** The parts about this run: earlier conversation, why it restarts, and the task. */
  turn: string;
  /** Both in one text, in part order. */
  whole: string;
};

/** The result of a task that this one depends on. */
export type DependencyResult = { name: string; summary: string };

export type PromptGiven = {
  assets: PromptAssets;
  agent: Agent;
  run: Run;
  /** Its projects, if several: the prompt lists the directory, branch and base of each. */
  places?: readonly ProjectPlace[];
  /** The repository's own texts for the agent's role, in order. They are appended and replace nothing. */
  custom?: string[];
  /** It runs in a sandbox. */
  confined?: boolean;
  dependencies?: DependencyResult[];
  /** The earlier conversation, for a provider that does not remember it. */
  transcript?: string | null;
  /** Why the run restarts, if it does. */
  notice?: string | null;
  /** Leaves out the commands and the part about other agents, but never the repository's own texts. */
  skipPromptExtras?: boolean;
};

/** One part of a prompt: its tagged text, whether it belongs to the run, and its text as a turn of its own. */
type PromptPart = { text: string; turn: boolean; quoted?: boolean; bare?: string };

/**
 * Assembles the prompt of a session without provider memory: the mode's parts in order, then definition, commands, the
 * repository's own texts, workspace and other agents. Foreign text cannot imitate a part. Fills placeholders everywhere
 * except in the earlier conversation.
 */
export function assemblePrompt(given: PromptGiven): Prompt {
  const fill = (text: string) => fillPlaceholders(text, given.agent);
  const parts = [...modeParts(given), ...lastParts(given)].map((part) => ({
    ...part,
    text: part.quoted === true ? part.text : fill(part.text),
    ...(part.bare === undefined ? {} : { bare: fill(part.bare) }),
  }));
  return {
    system: joined(parts.filter((part) => !part.turn)),
    turn: joined(parts.filter((part) => part.turn).map(({ text, bare }) => ({ text: bare ?? text }))),
    whole: joined(parts),
  };
}

/** The tag that holds the task in a mode's prompt. */
export function askedTag(assets: PromptAssets, { mode }: Agent): string {
  const asked: readonly string[] = askedTags;
  return assets.modes[mode].find(({ tag }) => asked.includes(tag))?.tag ?? askedTags[0];
}

function modeParts(given: PromptGiven): PromptPart[] {
  const { assets, agent } = given;
  const quote = assets.escape;
  const asked = askedTag(assets, agent);
  const template = assets.modes[agent.mode];
  const hasHistory = template.some(({ tag }) => tag === chatHistoryTag);
  return template.flatMap(({ tag, text }): PromptPart[] => {
    if (tag === chatHistoryTag) return past(given, chatHistoryTag, quote);
    if (tag === roleTag && text === '') return rolePart(given, quote);
    if (tag !== asked) return [{ text: block(tag, text), turn: false }];
    return [
      ...(hasHistory ? [] : past(given, addedTags.past, quote)),
      ...(given.notice ? [{ text: given.notice, turn: true }] : []),
      ...dependencyPart(given.dependencies ?? [], quote),
      askedPart(agent, tag, quote(given.run.task)),
    ];
  });
}

/** The definition's text as the role; without one, the agent's name. */
function rolePart({ agent, run }: PromptGiven, quote: (text: string) => string): PromptPart[] {
  return [{ text: block(roleTag, quote(run.definition?.prompt.trim() || `You are ${agent.alias}.`)), turn: false }];
}

/** The task of a turn. In a conversation, the person's message is the turn itself. */
function askedPart({ mode }: Agent, tag: string, text: string): PromptPart {
  return { text: block(tag, text), turn: true, ...(mode === 'converse' ? { bare: text } : {}) };
}

/** The parts after the mode's own, in this order. */
function lastParts({ assets, agent, run, places = [], custom = [], ...given }: PromptGiven): PromptPart[] {
  const quote = assets.escape;
  const skips = given.skipPromptExtras ?? agent.mode === 'conflict-resolution';
  const commands = commandLines(assets, agent.kind);
  const communication = skips ? null : communicationText(assets, agent.mode, commands);
  // If the definition is the role, it is already included.
  const isRole = assets.modes[agent.mode].some(({ tag, text }) => tag === roleTag && text === '');
  const definition = isRole ? '' : quote(run.definition?.prompt.trim() ?? '');
  const texts = [
    definition === '' ? null : block(addedTags.definition, `${definitionHead}\n\n${definition}`),
    skips ? null : block(addedTags.commands, commands),
    ...custom
      .filter((text) => text.trim() !== '')
      .map((text) => block(addedTags.custom, `${customHead}\n\n${quote(text.trim())}`)),
    block(
      addedTags.workspace,
      quote(`${workspaceText(agent, places)}${accessText(agent)}${given.confined === true ? sandboxText : ''}`),
    ),
    communication === null ? null : block(addedTags.communication, communication),
  ];
  return texts.filter((text) => text !== null).map((text) => ({ text, turn: false }));
}

const definitionHead = 'This defines your role here. Where it differs from the text above, follow this.';
const customHead = 'Instructions of this repository for agents in your role, in addition to all of the above.';

function past({ transcript = null }: PromptGiven, tag: string, quote: (text: string) => string): PromptPart[] {
  return transcript === null ? [] : [{ text: block(tag, quote(transcript)), turn: true, quoted: true }];
}

/** The results of dependencies; each gets an equal share of the room. */
function dependencyPart(dependencies: DependencyResult[], quote: (text: string) => string): PromptPart[] {
  if (dependencies.length === 0) return [];
  const share = Math.floor(promptLimits.dependencyCharacters / dependencies.length);
  const results = dependencies.map(({ name, summary }) => cutText(`## ${name.trim()}\n\n${summary.trim()}`, share));
  const text = `The results of the tasks that yours builds on, as their agents reported them.\n\n${results.join('\n\n')}`;
  return [{ text: block(addedTags.dependencies, quote(text)), turn: true, quoted: true }];
}

const sandboxText =
  '\n\nYou run in a sandbox: you can write to your workspace and to /tmp, and other files are read-only or hidden. Your processes end with your session. A tool that fails with a read-only file system, or with a refused host, meets its limits: work within them, or report what you need.';

/** How much of the machine an agent may use, unless it may use all of it. */
function accessText({ access }: Agent): string {
  if (access === 'full') return '';
  return access === 'ask'
    ? '\n\nYour access is `ask`: a person decides about each tool call that needs permission, which can take long. If a call is denied, follow the reason that its result gives.'
    : '\n\nYour access is `read-only`: read and report, but change nothing.';
}

function workspaceText(agent: Agent, places: readonly ProjectPlace[]): string {
  if (agent.projectId === null && agent.parentId !== null) return plainText(agent);
  if (places.length > 1) return severalText(agent, places);
  const from = fromBase(agent.baseCommit);
  const isDetached = agent.branch === null && agent.mode === 'coordinate';
  const lines = [
    `- Directory: ${agent.worktree ?? '(the current one)'}. Stay inside it.`,
    isDetached
      ? '- Branch: none. The directory is a checkout of the target branch of changes, and follows it while you are idle. Edits there are not kept.'
      : `- Branch: ${agent.branch ?? '(none)'}${from}.`,
    ...assignmentLine(agent, 'Neither is committed.'),
  ];
  const how = isDetached
    ? 'with a directory of your own for reading'
    : 'and you work alone in a git worktree of your own';
  return `You are ${agent.alias}, ${how}.\n\n${lines.join('\n')}`;
}

/** For an agent with several projects: one directory, with a worktree per project. */
function severalText(agent: Agent, places: readonly ProjectPlace[]): string {
  const lines = [
    `- Directory: ${directoryOf(agent) ?? '(the current one)'}. You start here; stay inside it. It is not a repository itself.`,
    ...places.map(
      ({ name, path, branch, base }) =>
        `- Project ${name}: ${path}, on the branch ${branch ?? '(none)'}${fromBase(base)}.`,
    ),
    '- Run git in the directory of the project concerned, and commit in each project what you change there.',
    ...assignmentLine(agent, 'Both are in the directory that you start in, and in no repository.'),
  ];
  return `You are ${agent.alias}, and you work alone, with a git worktree of your own in each of ${places.length} projects.\n\n${lines.join('\n')}`;
}

/** For an agent without a project: a plain directory. */
function plainText(agent: Agent): string {
  const lines = [
    `- Directory: ${directoryOf(agent) ?? '(the current one)'}. Stay inside it. It is yours alone and is not a git repository: there is no branch, and nothing to commit or propose.`,
    ...assignmentLine(agent, 'Leave your results in the directory, and say in your result where they are.'),
  ];
  return `You are ${agent.alias}, and you work for no project.\n\n${lines.join('\n')}`;
}

function assignmentLine({ mode }: Agent, more: string): string[] {
  if (endsTurnByResult(mode)) return [];
  return [`- Your assignment: \`.pawl/input/\`, see \`manifest.json\`. Your reports: \`.pawl/output/\`. ${more}`];
}

function fromBase(base: string | null): string {
  return base === null ? '' : `, which starts at ${base}`;
}

function joined(parts: { text: string }[]): string {
  return `${parts.map(({ text }) => text).join('\n\n')}\n`;
}

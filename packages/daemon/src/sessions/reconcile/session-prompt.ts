import { conversationOf } from '@pawl/core/agents/history';
import type { ProjectPlace } from '@pawl/core/sessions/input-files';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Prompt } from '@pawl/core/prompts/assemble';
import { assemblePrompt } from '@pawl/core/prompts/assemble';
import {
  accountSwitchedPrompt,
  commitPrompt,
  interruptedPrompt,
  missingSignalPrompt,
  nextTaskPrompt,
  outputPrompt,
  retryPrompt,
} from '@pawl/core/prompts/follow-up';
import { commitNotice, noticeOf, outputNotice } from '@pawl/core/prompts/notice';
import { transcriptOf } from '@pawl/core/sessions/transcript';
import { limits } from '@pawl/schema/limit';
import type { Agent, Message, Run, Session } from '@pawl/schema/record';
import { wholeHistory } from '@pawl/store/sessions/history';
import { readCustomTexts } from '../../prompts/custom.ts';
import { placesOf } from '../../platform/places.ts';
import { redact } from '../../accounts/redaction.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { projectOf } from '../../platform/platform.ts';
import { planOutput } from '../../tasks/plan-output.ts';
import { unansweredThreads } from '../../tasks/review-threads.ts';
import { uncommittedPlaces } from './uncommitted.ts';

/** The prompt of a session: an addition to the CLI's system prompt, where it takes one, and the first turn. */
export type SessionPrompt = { system: string | null; turn: string };

type PromptFacts = {
  agent: Agent;
  run: Run;
  session: Session;
  preset: ProviderPreset;
  /** It ignores the repository's settings and, with some CLIs, also its instructions to agents. */
  blocked: boolean;
  /** It runs in a sandbox. */
  confined: boolean;
  /** The rendered mail of this turn. */
  mail: string | null;
};

/** The prompt of a session: all of it if the provider keeps no conversation, else only what is new. */
export async function promptFor(platform: SessionPlatform, facts: PromptFacts): Promise<SessionPrompt> {
  const resumes = facts.session.conversation === 'resume';
  // A resumed session needs the rest only if the CLI reads its system prompt each time.
  const whole = resumes && facts.preset.systemPrompt === null ? null : await wholePrompt(platform, facts);
  const system = facts.preset.systemPrompt === null ? null : (whole?.system ?? null);
  const turn = resumes ? await followUp(platform, facts) : ((system === null ? whole?.whole : whole?.turn) ?? '');
  const said = facts.mail === null ? turn : `${turn}\n${facts.mail}\n`;
  // The repository's own files are part of it, and may contain secrets.
  return { system: system === null ? null : redact(platform, system), turn: redact(platform, said) };
}

/** The messages before the planned session: before its run or, if the run continues, up to now. */
export async function pastOf(
  platform: SessionPlatform,
  agent: Agent,
  run: Run,
  purpose: Session['purpose'],
): Promise<Message[]> {
  const said = conversationOf(await wholeHistory(platform.store.db, agent.id));
  return purpose === 'work' ? said.filter((message) => message.runId !== run.id) : said;
}

async function wholePrompt(
  platform: SessionPlatform,
  { agent, run, session, preset, blocked, confined }: PromptFacts,
): Promise<Prompt> {
  const { purpose, conversation } = session;
  const places = await placesToName(platform, agent);
  const past = conversation === 'replay' ? await pastOf(platform, agent, run, purpose) : [];
  const hidden = blocked ? (preset.repositorySettings.hides ?? []) : [];
  const custom: string[] = [];
  for (const { path } of places) {
    const { texts, problems } = await readCustomTexts(path, run.definition?.role ?? agent.definition, hidden);
    custom.push(...texts);
    for (const problem of problems) platform.log.warn({ agent: agent.alias, problem }, 'ignoring a custom prompt');
  }
  return assemblePrompt({
    assets: platform.prompts,
    agent,
    run,
    places,
    custom,
    confined,
    transcript: transcriptOf(past, limits.replayCharacters),
    notice: await noticeFor(platform, agent, purpose),
  });
}

/** The notice at the beginning of a session that does not start its run. */
async function noticeFor(platform: SessionPlatform, agent: Agent, purpose: Session['purpose']): Promise<string | null> {
  if (purpose === 'commit') return commitNotice(platform.prompts, await pathsToCommit(platform, agent));
  if (purpose === 'output') return outputNotice(platform.prompts, await faultsIn(platform, agent));
  return noticeOf(purpose);
}

/** The faults in an agent's current output. */
async function faultsIn(platform: SessionPlatform, agent: Agent): Promise<string[]> {
  const output = await planOutput(platform, agent, { isDone: true });
  return [...(output?.complaints ?? []), ...(await unansweredThreads(platform.store.db, agent))];
}

/** The prompt for a session whose provider has the rest of the conversation. */
async function followUp(platform: SessionPlatform, { agent, run, session }: PromptFacts): Promise<string> {
  const { prompts } = platform;
  switch (session.purpose) {
    case 'work':
      return nextTaskPrompt(prompts, agent, run);
    case 'missing-signal':
      return missingSignalPrompt(prompts);
    case 'interrupted':
      return interruptedPrompt(prompts, agent, run);
    case 'retry':
      return retryPrompt(prompts, agent, run);
    case 'account':
      return accountSwitchedPrompt(prompts, agent, run);
    case 'commit':
      return commitPrompt(prompts, await pathsToCommit(platform, agent));
    case 'output':
      return outputPrompt(prompts, await faultsIn(platform, agent));
  }
}

/** The agent's projects as a prompt names them. */
async function placesToName(platform: SessionPlatform, agent: Agent): Promise<ProjectPlace[]> {
  const places = await placesOf(platform.store.db, agent);
  return Promise.all(
    places.map(async ({ agent: there }) => ({
      name: (await projectOf(platform.store, there)).name,
      path: there.worktree ?? '',
      branch: there.branch,
      base: there.baseCommit,
    })),
  );
}

/**
 * The worktrees in which the agent is asked to commit: those with uncommitted files, or all if none is known to have
 * any.
 */
async function pathsToCommit(platform: SessionPlatform, agent: Agent): Promise<string[]> {
  const dirty = (await uncommittedPlaces(platform, agent)).map(({ path }) => path);
  return dirty.length > 0 ? dirty : (await placesToName(platform, agent)).map(({ path }) => path);
}

import { assemblePrompt } from '@pawl/core/prompts/assemble';
import { loadPromptAssets } from '@pawl/daemon/prompts/assets';
import { programs } from '@pawl/protocol/node/programs';
import type { Agent, Run } from '@pawl/schema/record';
import { noBudget, workModes } from '@pawl/schema/record';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDefinitions } from '../../../src/definitions/definitions.ts';

/** The roles with prompts. A helper is a foreign session, so it has none. */
export const roles = [
  'supervisor',
  'merge-queue',
  'worker',
  'workspace',
  'review',
  'architect',
  'lead',
  'coder',
  'plan',
  'search',
] as const;
export type Role = (typeof roles)[number];

/** A fixed list of commands, independent of the command line. */
const commands = `The commands.

- \`pawl ps\`: list the agents. Example: \`pawl ps --json\`
- \`pawl history [agent]\`: show what an agent said and did. Example: \`pawl history brave-otter\`
- \`pawl send <agent> <text>\`: send mail. Example: \`pawl send brave-otter "look at src/login.ts"\`
- \`pawl ask <question>\`: ask another agent. Example: \`pawl ask "which port?" --agent-id brave-otter\`
- \`pawl listen\`: wait for a question. Example: \`pawl listen --agent-id brave-otter\`
- \`pawl answer <answer>\`: answer it. Example: \`pawl answer "port 8080" --conversation-id 4fGhXq\`
- \`pawl task add <name>\`: add a task. Example: \`pawl task add "test the login"\``;

/** Where each role works: its own branch, or a detached checkout of the target branch. */
const branches: Record<Role, string | null> = {
  supervisor: null,
  'merge-queue': null,
  worker: 'work/brave-otter',
  workspace: 'workspace/shop',
  review: 'work/brave-otter',
  architect: 'work/brave-otter',
  lead: 'work/brave-otter',
  coder: 'work/brave-otter',
  plan: 'work/brave-otter',
  search: 'work/brave-otter',
};

/** The first task of each. */
const asked: Record<Role, string> = {
  supervisor: 'What is everybody up to?',
  'merge-queue': 'You have new mail; see below.',
  worker: 'Fix the login test.',
  workspace: 'Why is the login slow?',
  review: 'Review the change 4fGhXq, which is proposed for main.',
  architect: 'Divide this plan into phases.',
  lead: 'Make the login faster.',
  coder: 'Fix the login test.',
  plan: 'Plan how to make the login faster.',
  search: 'Find where the login reads the password.',
};

/** The whole prompt of an agent of a built-in role, as its first session reads it. */
export async function promptOfRole(role: Role): Promise<{ system: string; turn: string; whole: string }> {
  const places = { builtIn: programs.builtInDefinitions, user: '/nowhere', isTrusted: () => false };
  const definition = await createDefinitions(places).find(null, role);
  const assets = { ...(await loadPromptAssets(programs.prompts)), commands };
  const isWorker = definition.class === 'ephemeral';
  const agent: Agent = {
    id: 'agent00000000000000000',
    alias: isWorker ? 'brave-otter' : role,
    projectId: 'project000000000000000',
    parentId: 'root000000000000000000',
    supervisorId: 'root000000000000000000',
    forkMessageId: 0,
    forkedConversation: null,
    snapshot: null,
    freshAfter: 0,
    definition: definition.id,
    kind: definition.kind,
    class: definition.class,
    provider: 'claude',
    model: null,
    options: {},
    mode: workModes.find((mode) => mode === definition.mode) ?? 'execute',
    accountId: null,
    environment: {},
    budget: noBudget,
    access: 'full',
    accessNeeds: null,
    keyProxy: null,
    taskId: null,
    assignment: null,
    branch: branches[role],
    baseCommit: 'c0ffee',
    worktree: `/worktrees/shop/${isWorker ? 'brave-otter' : role}`,
    workdir: null,
    worktreeReadyAt: 2,
    worktreeEnd: null,
    createdAt: 1,
    stopRequestedAt: null,
    completion: null,
    adopted: null,
    stuckAt: null,
    stuckReason: null,
    endedAt: null,
    endReason: null,
    reapedAt: null,
  };
  const run: Run = {
    id: 'run0000000000000000000',
    projectId: 'project000000000000000',
    agentId: agent.id,
    agentKind: 'main',
    parentRunId: null,
    task: asked[role],
    definition,
    startedAt: 1,
    endedAt: null,
    outcome: null,
    detail: null,
    questions: null,
    resultBefore: null,
    waitUntil: null,
    waitFor: null,
    repoPath: null,
    sessionId: 'default',
    cause: null,
  };
  return assemblePrompt({ assets, agent, run, custom: [`This repository's own text for the ${role}.`] });
}

/** The golden file of a role. Text files, so that no formatter changes them. */
export const goldenPath = (role: Role) => join(import.meta.dirname, `${role}.txt`);

// Run as a program, it writes the current prompts. Read the diff: it is what agents will read.
if (process.argv[1] === import.meta.filename) {
  for (const role of roles) writeFileSync(goldenPath(role), (await promptOfRole(role)).whole);
}

import type { Agent, Message, Project, Run, Session } from '@pawl/schema/record';
import { noBudget, noUsage } from '@pawl/schema/record';
import type { ProviderPreset } from '../src/port/provider.ts';
import type { MergeRules } from '../src/changes/merge-leave.ts';

/** A readable id. */
export function idOf(name: string): string {
  return name.padEnd(22, '0');
}

/** A worker that is ready to run, with overrides. */
export function anAgent(given: Partial<Agent> = {}): Agent {
  return {
    id: idOf('agent'),
    alias: 'brave-otter',
    projectId: idOf('project'),
    parentId: idOf('root'),
    supervisorId: idOf('root'),
    forkMessageId: 0,
    forkedConversation: null,
    snapshot: null,
    freshAfter: 0,
    definition: 'worker',
    kind: 'main',
    class: 'ephemeral',
    provider: 'scripted',
    model: null,
    options: {},
    mode: 'execute',
    accountId: null,
    environment: {},
    budget: noBudget,
    access: 'full',
    accessNeeds: null,
    keyProxy: null,
    taskId: null,
    assignment: null,
    branch: 'work/brave-otter',
    baseCommit: 'c0ffee',
    worktree: '/worktrees/brave-otter',
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
    ...given,
  };
}

/** An open run, with overrides. */
export function aRun(given: Partial<Run> = {}): Run {
  return {
    id: idOf('run'),
    projectId: idOf('project'),
    agentId: idOf('agent'),
    agentKind: 'main',
    parentRunId: null,
    task: 'fix the login test',
    definition: null,
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
    ...given,
  };
}

/** A session with a running process, with overrides. */
export function aSession(given: Partial<Session> = {}): Session {
  return {
    id: idOf('session'),
    agentId: idOf('agent'),
    runId: idOf('run'),
    no: 1,
    purpose: 'work',
    conversation: 'new',
    providerSessionId: null,
    accountId: null,
    plannedAt: 3,
    startedAt: 4,
    pid: 42,
    processStart: 'boot:4',
    sandbox: 'off',
    pausedAt: null,
    interruptedAt: null,
    endedAt: null,
    exitCode: null,
    endReason: null,
    usage: noUsage,
    reported: null,
    result: null,
    limitUntil: null,
    ...given,
  };
}

/** A person's message, with overrides. */
export function aMessage(given: Partial<Message> = {}): Message {
  return {
    id: 1,
    agentId: idOf('agent'),
    runId: null,
    sessionId: null,
    kind: 'user',
    content: 'hello',
    data: null,
    createdAt: 1,
    ...given,
  };
}

export const aProject: Project = { id: idOf('project'), name: 'shop', root: '/code/shop', createdAt: 0 };

/** A provider with every capability, with overrides. */
export function aPreset(given: Partial<ProviderPreset> = {}): ProviderPreset {
  return {
    name: 'example',
    description: 'an example',
    command: ['example-cli', '--print'],
    process: { names: ['example-cli'], commandLine: null },
    env: {},
    rootEnv: {},
    version: ['--version'],
    install: null,
    variables: { settings: [], secrets: [] },
    account: null,
    promptMode: 'stream-json',
    echoes: true,
    promptArguments: [],
    systemPrompt: null,
    chooseSession: ['--session-id', '{session}'],
    resume: ['--resume', '{session}'],
    fork: ['--resume', '{session}', '--fork-session'],
    forkStyle: 'native',
    tools: { allow: ['--tools', '{tools}'], deny: ['--no-tools', '{tools}'] },
    model: ['--model', '{model}'],
    options: { scenario: ['--scenario', '{value}'] },
    outputFormat: 'claude-stream-json',
    access: { full: [], ask: null, readOnly: null },
    hook: null,
    mcp: null,
    patterns: { limit: [], transient: [], auth: [] },
    silence: { noticeMs: 30_000, hangMs: 600_000 },
    firstSignal: 'SIGTERM',
    repositorySettings: { paths: [], block: null },
    ...given,
  };
}

/** Committed rules of a project without a remote that merges on request. */
export const mergeRules: MergeRules = {
  branch: 'main',
  source: 'commit',
  checkout: null,
  auto: false,
  remote: null,
  pushAllowed: false,
};

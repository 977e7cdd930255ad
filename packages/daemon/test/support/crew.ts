import { createSandboxing } from '@pawl/daemon/platform/sandboxing';
import { createHost } from '@pawl/host/host';
import { createCaches } from '@pawl/daemon/platform/caches';
import { newChange } from '@pawl/core/changes/change-life';
import { createAccounts } from '@pawl/daemon/accounts/accounts';
import { createAuthority, personToken } from '@pawl/daemon/platform/http/authority';
import { openMail } from '@pawl/daemon/mail/mail';
import { loadPromptAssets } from '@pawl/daemon/prompts/assets';
import { createCrew } from '@pawl/daemon/changes/repair/crew';
import { startReconciler } from '@pawl/daemon/sessions/reconcile/reconciler';
import { homeDefinitions } from '@pawl/daemon/definitions/home-definitions';
import { forkAndExec } from '@pawl/daemon/agents/fork';
import { ensureRootAgent, rootAgent } from '@pawl/daemon/platform/root-agent';
import { createSignals } from '@pawl/daemon/agents/signals';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { unconfined } from './unconfined.ts';
import { homeAt } from '@pawl/protocol/node/home';
import { programs } from '@pawl/protocol/node/programs';
import type { WorkBody } from '@pawl/protocol/agents/verb-view';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { providerRegistry } from '@pawl/providers/registry';
import type { Change, ChangeComment, Check, Ejection } from '@pawl/schema/change';
import type { Event, EventType } from '@pawl/schema/event';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { ProjectConfig, Staff } from '@pawl/schema/project-config';
import type { Agent, Project } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView, everyLivingAgent } from '@pawl/store/agents/agent-views';
import { changeById, insertChange, insertComment, updateChange } from '@pawl/store/changes/changes';
import { appendCheckChunk, insertCheck } from '@pawl/store/changes/checks';
import { dataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { listMail } from '@pawl/store/mail/mail';
import { insertProject } from '@pawl/store/projects/projects';
import { beginQueue } from '@pawl/store/changes/queues';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { giveDatabase } from '@pawl/testing/home-database';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openProxy } from '@pawl/daemon/proxy/proxy';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { writeScenario } from './daemon.ts';
import { markdown } from './definitions.ts';
import { addRestingAgents } from './resting-agents.ts';
import { shareStore, unshareStore } from './stores.ts';

/** The configuration of a project with one check, without reviewers or fixers. */
const plainConfig: ProjectConfig = {
  checks: [{ name: 'check', run: 'sh check.sh', timeoutMs: 60_000, junit: [] }],
  plan: 'plan',
  env: [],
  branch: 'main',
  method: 'squash',
  batch: 16,
  parallel: 1,
  remote: null,
  auto: true,
  enabled: true,
  forge: 'local',
  track: 'all',
  review: null,
  fixer: null,
  guard: { enabled: false, paths: [] },
  access: null,
  rules: [],
  playground: true,
  source: 'commit',
  checkout: null,
};

export type TestCrew = Awaited<ReturnType<typeof openCrew>>;

/** A project with a queue that does not run: a test writes the facts, runs a crew pass, and checks what it has done. */
export async function openCrew(given: Partial<ProjectConfig> = {}, environment: NodeJS.ProcessEnv = process.env) {
  const place = await temporaryDirectory();
  const home = homeAt(join(place.path, 'home'));
  openDataDirectory(home.root);
  await giveDatabase(home.root);
  for (const path of [home.logs, home.sessions, home.worktrees, home.repositories, home.trash])
    mkdirSync(path, { recursive: true, mode: 0o700 });
  await sampleRepository(join(place.path, 'sample'));
  const root = realpathSync(join(place.path, 'sample'));
  const log = pino({ enabled: false });
  const store = await openStore(sqliteEngine(dataDirectory(home.root).database), { clock: Date.now });
  shareStore(home.root, store);
  const providers = providerRegistry(
    builtInPresets({
      scriptedAgent: [process.execPath, ...programs.scriptedAgent],
      bridge: [process.execPath, ...programs.bridge],
      engine: [process.execPath, ...programs.engine],
      engineState: home.engine,
      scriptedState: home.scripted,
    }),
    [],
  );
  const platform: SessionPlatform = {
    home,
    rootId: await ensureRootAgent(store),
    currentChoices: async () => unconfined,
    choices: unconfined,
    host: createHost(),
    sandbox: createSandboxing({}),
    definitions: homeDefinitions(store, { builtIn: programs.builtInDefinitions, user: home.agents }),
    store,
    providers,
    prompts: await loadPromptAssets(programs.prompts),
    accounts: createAccounts({ home, store, providers, environment, clock: Date.now, log }),
    proxy: openProxy({ home, store, environment, log }),
    authority: createAuthority(personToken(home.token)),
    startedAt: Date.now(),
    timing: {
      stopGraceMs: 60_000,
      hungAfterSignalMs: 60_000,
      hungAfterResultMs: 60_000,
      livenessMs: 100,
      limitGraceMs: 500,
      routeMs: 60_000,
      healthMs: 60_000,
      nudgeMs: 60_000,
      nudgeGapMs: 120_000,
      adoptionMs: 3_000,
      queueMs: 60_000,
      queueWaitMs: 60_000,
    },
    pawl: programs.pawl,
    environment,
    clock: Date.now,
    repositories: new Map(),
    caches: createCaches(),
    log,
  };
  const project: Project = { id: newId(), name: 'sample', root, createdAt: Date.now() };
  await store.write(async (tx) => {
    await insertProject(tx, project);
    await beginQueue(tx, project.id, 'main');
  });
  const reconciler = startReconciler(platform);
  const mailRoom = openMail(platform, reconciler);
  const signals = createSignals(platform, reconciler);
  const crew = createCrew(platform);
  const config: ProjectConfig = { ...plainConfig, ...given };
  const main = await git(root, ['rev-parse', 'main']);

  onTestFinished(async () => {
    for (const { agent, run } of await everyLivingAgent(store.db))
      if (run?.outcome === null) await signals.stop(agent.id);
    await mailRoom.close();
    await reconciler.close();
    unshareStore(home.root);
    await store.close();
    await place[Symbol.asyncDispose]();
  });

  async function view(agentId: string): Promise<AgentFacts> {
    const found = await agentView(store.db, agentId);
    if (found === null) throw new Error(`There is no agent ${agentId}.`);
    return found;
  }

  /** Waits until the latest run of an agent has an outcome, and nothing of it runs. */
  async function ended(agentId: string): Promise<AgentFacts> {
    const isOver = async () => {
      const facts = await view(agentId);
      return facts.run?.outcome !== null && facts.session?.endedAt !== null ? facts : null;
    };
    return waitUntil(isOver, { what: `the run of ${agentId} to end` });
  }

  async function work(steps: unknown[], body: Partial<WorkBody> = {}): Promise<Agent> {
    const scenario = await writeScenario(place.path, steps);
    const request = { path: root, task: 'a task', provider: 'scripted', options: { scenario }, ...body };
    return forkAndExec(platform, { agent: await rootAgent(store.db), isPerson: true }, request, undefined);
  }

  return {
    platform,
    store,
    project,
    mailRoom,
    config,
    main,
    root,
    view,
    ended,
    /** Forks an agent that plays these steps. */
    work,
    /** The same, once it is idle. */
    rested: async (steps: unknown[] = ['complete', 'echo_prompt', 'complete'], body: Partial<WorkBody> = {}) =>
      (await ended((await work(steps, body)).id)).agent,
    /** An ended agent, as a row. */
    gone: async (): Promise<Agent> => {
      const [agent] = await addRestingAgents(home, [{ endedAt: Date.now(), endReason: 'completed' }]);
      return agent as Agent;
    },
    /** An agent for a config, which plays these steps. */
    staff: async (steps: unknown[], definition = 'worker'): Promise<Staff> => ({
      definition,
      provider: 'scripted',
      model: null,
      options: { scenario: await writeScenario(place.path, steps) },
    }),
    /** Adds a definition to the project's repository. */
    define(name: string, fields: Record<string, unknown>): void {
      mkdirSync(join(root, '.pawl', 'agents'), { recursive: true });
      writeFileSync(join(root, '.pawl', 'agents', `${name}.md`), markdown(fields));
    },
    /** Runs a crew pass. */
    tick: (changed: Partial<ProjectConfig> = {}) => crew.tick(project, { ...config, ...changed }),
    /** Another crew on the same facts, as after a daemon start. */
    again: () => createCrew(platform),
    async open(author: Agent | null, fields: Partial<Change> = {}): Promise<Change> {
      const change = aChange(project.id, { agentId: author?.id ?? null, head: main, base: main, ...fields });
      await store.write((tx) => insertChange(tx, { ...change, examinedHead: change.head, ...fields }));
      return now(change.id);
    },
    now,
    async patch(id: string, patch: Parameters<typeof updateChange>[2]): Promise<Change> {
      await store.write((tx) => updateChange(tx, id, patch));
      return now(id);
    },
    /** Ejects a change, as the queue does. */
    async eject(id: string, fields: Partial<Ejection> = {}): Promise<Change> {
      const { head } = await now(id);
      const ejection = {
        kind: 'conflict',
        reason: 'it conflicts',
        files: ['a.txt'],
        checkId: null,
        head,
        at: Date.now(),
      };
      await store.write((tx) => updateChange(tx, id, { ejection: { ...ejection, ...fields } as Ejection }));
      return now(id);
    },
    async comment(change: Change, body: string, fields: Partial<ChangeComment> = {}): Promise<ChangeComment> {
      const comment: ChangeComment = {
        id: newId(),
        changeId: change.id,
        agentId: null,
        kind: 'blocking',
        body,
        head: change.head,
        at: Date.now(),
        addressedAt: null,
        addressed: null,
        ...fields,
      };
      await store.write((tx) => insertComment(tx, comment));
      return comment;
    },
    /** A failed check with this output. */
    async failedCheck(output: string): Promise<Check> {
      const check = aCheck(project.id, main);
      await store.write(async (tx) => {
        await insertCheck(tx, check);
        await appendCheckChunk(tx, check.id, { step: 0, offset: 0, bytes: Buffer.from(output) });
      });
      return check;
    },
    mails: async (toId: string): Promise<Mail[]> => (await listMail(store.db, { toId, limit: 100 })).toReversed(),
    async events(...types: EventType[]): Promise<Event[]> {
      const all = await readEvents(store.db, { afterSeq: 0, limit: limits.pageRows });
      return all.filter(({ type }) => types.includes(type));
    },
    living: async (): Promise<Agent[]> => (await everyLivingAgent(store.db)).map(({ agent }) => agent),
  };

  async function now(id: string): Promise<Change> {
    const change = await changeById(store.db, id);
    if (change === null) throw new Error(`There is no change ${id}.`);
    return change;
  }
}

/** A queued change with these fields. */
export function aChange(projectId: string, fields: Partial<Change>): Change {
  return newChange({
    id: newId(),
    projectId,
    agentId: null,
    taskId: null,
    branch: `work/${newId()}`,
    head: '0'.repeat(40),
    base: '0'.repeat(40),
    title: 'A title',
    summary: 'A summary.',
    openedAt: 1,
    queuedAt: 1,
    examinedHead: fields.head ?? null,
    ...fields,
  });
}

function aCheck(projectId: string, commit: string): Check {
  return {
    id: newId(),
    projectId,
    commit,
    tree: commit,
    plan: 'plan',
    steps: plainConfig.checks,
    changes: [],
    onto: commit,
    plannedAt: 1,
    startedAt: 1,
    step: 0,
    stepStartedAt: 1,
    pid: null,
    processStart: null,
    outputOffset: 0,
    outputBytes: 0,
    endedAt: 2,
    outcome: 'failed',
    exitCode: 1,
    detail: 'exit code 1',
    counts: null,
  };
}

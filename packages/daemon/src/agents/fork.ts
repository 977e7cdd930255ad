import { inheritedAccess } from '@pawl/core/definitions/access';
import { capTo } from '@pawl/core/definitions/cap';
import { checkErrand } from '@pawl/core/agents/errand';
import { checkCase, checkDelegation, checkMayFork } from '@pawl/core/definitions/gate';
import { agentRoutes } from '@pawl/protocol/agents/routes';
import type { ForkRequest } from '@pawl/core/agents/fork';
import { nothingInherited, refuseParent } from '@pawl/core/agents/fork';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { checkOptions, checkTask } from '@pawl/core/plan/task';
import type { ForkBody, WorkBody } from '@pawl/protocol/agents/verb-view';
import { requireInstalled } from '@pawl/providers/detect';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Agent, Project } from '@pawl/schema/record';
import { noBudget, workModes } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { helperDefinition } from '../definitions/helper.ts';
import { defaultDefinition } from '../definitions/default-definition.ts';
import { agentPath, personPath } from '../platform/search-path.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { dropForkSnapshot } from '../platform/platform.ts';
import type { Barrier } from './barrier.ts';
import { baseCommitFor } from '../project-config/base-commit.ts';
import { childBudget, refuseUncountable } from '../platform/budgets.ts';
import { agentOfRequest } from '../platform/idempotency.ts';
import type { Ground } from './grounds.ts';
import { groundsAskedFor, groundsOfFork, refuseForeignGrounds } from './grounds.ts';
import { filesFor, inheritance, refuseFilesWithoutProject, refuseUninheritable } from './inheritance.ts';
import { definitionInForce } from '../definitions/home-definitions.ts';
import { engineModel } from '../providers/engine-model.ts';
import { chooseProvider } from '../providers/provider-choice.ts';
import { plannedTask } from '../tasks/tasks.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { accessOf, withAccess } from './access-choice.ts';
import { insertPlanAgent } from '@pawl/store/plan/proposals';
import { planWork } from '../tasks/plan-work.ts';
import type { Actor, Prepared, Resting } from './add-child.ts';
import { addChild } from './add-child.ts';

/**
 * Fork and exec: creates an agent with its own task that inherits nothing. On return it is in the registry with
 * everything needed to start it; its worktree and process follow, even if this daemon dies. The default provider is
 * that of `likeAgent`, if given.
 */
export async function forkAndExec(
  platform: SessionPlatform,
  caller: Actor,
  body: WorkBody,
  key: string | undefined,
  {
    resting,
    likeAgent = null,
    given,
  }: {
    resting?: Resting;
    likeAgent?: Agent | null;
    given?: { accountId: string | null; environment: Record<string, string> };
  } = {},
): Promise<Agent> {
  // A repeated request returns the same agent, whatever has happened to the caller since.
  const earlier = await agentOfRequest(platform.store.db, key);
  if (earlier !== null) return earlier;
  if (body.planned === undefined && resting === undefined) checkTask(body.task);
  if (body.mode === 'errand') checkErrand(body.task);
  const grounds = await groundsAskedFor(platform, body);
  refuseUnfit(body, grounds);
  const project = grounds[0]?.project ?? null;
  // A person's work never descends from the agent they switched to: killing that family would end it too.
  const actor = caller.isPerson ? { agent: await rootAgent(platform.store.db), isPerson: true } : caller;
  checkMayFork(actor.agent.kind);
  const wanted = await platform.definitions.find(project, await definitionFor(platform, project, body));
  refuseHelperMode(wanted);
  const begunBy = await checkExec(platform, actor, grounds, {
    target: wanted,
    takesPlanned: body.planned !== undefined,
  });
  // An agent may have written a definition of the repository itself, so cap it to the agent's own rights.
  const isForeign = !actor.isPerson && wanted.sources.every(({ layer }) => layer === 'repository');
  const definition = isForeign ? capTo(wanted, await definitionInForce(platform, actor.agent)) : wanted;
  const asker = actor.isPerson ? likeAgent : actor.agent;
  const path = asker === null ? await personPath(platform, body.searchPath) : await agentPath(platform, asker);
  const projects = grounds.map((ground) => ground.project);
  const access = await accessOf(platform, actor, { asked: body.access, definition, projects });
  const keyProxy = keyProxyOf(actor, body);
  const named = await chooseProvider(platform, { wanted: body.provider, definition, asker, project, path });
  const preset = await withAccess(platform, named, access);
  const chosen = { model: body.model ?? definition.model ?? modelLike(asker, preset), options: body.options ?? {} };
  checkOptions(preset, chosen);
  if (!actor.isPerson) refuseOwnCommand(actor.agent, preset, chosen.options);
  refuseUncountable(preset, body.budget, { proxy: platform.choices.proxy && keyProxy === null });
  await requireInstalled(preset, { PATH: preset.env['PATH'] ?? path });
  const mode = body.mode ?? workModes.find((each) => each === definition.mode) ?? 'execute';
  const forPlan =
    body.plan === undefined ? null : await planWork(platform.store.db, project, { ...body, plan: body.plan, mode });
  const begin = async (ground: Ground) => ({
    ...ground,
    baseCommit: await baseCommitFor(platform, ground.project, ground.repository, { base: body.base, mode }),
    snapshot: null,
  });
  return addChild(platform, actor, key, {
    definition,
    preset,
    ...chosen,
    ...(given ??
      (await credentials(platform, actor, named, { ...body, ...(await accountOfModel(platform, named, body)), path }))),
    ...access,
    keyProxy,
    mode,
    budget: actor.isPerson ? { ...noBudget, ...body.budget } : childBudget(platform, actor.agent, body.budget),
    taskId: body.planned ?? null,
    alias: body.alias,
    task: resting === undefined ? body.task : null,
    ...(resting === undefined ? {} : { branch: resting.branch, record: resting.record }),
    ...(forPlan === null ? {} : { record: (tx, { id }) => insertPlanAgent(tx, { agentId: id, ...forPlan }) }),
    ...begunBy,
    ...(body.sessionId === undefined ? {} : { sessionId: body.sessionId }),
    ids: { agent: newId(), run: newId() },
    grounds: await Promise.all(grounds.map(begin)),
    inherit: async () => nothingInherited,
  });
}

/** Whether a new agent's sessions get their key itself: only a person may ask for that. */
function keyProxyOf({ isPerson }: Actor, { noProxy }: Pick<WorkBody, 'noProxy'>): Agent['keyProxy'] {
  if (noProxy !== true) return null;
  if (!isPerson) throw new PawlError('forbidden', 'Only a person may give an agent the key itself (--no-proxy).');
  return 'off';
}

/** The account of a named model, unless the request names one. */
async function accountOfModel(
  platform: SessionPlatform,
  preset: ProviderPreset,
  { account, model }: Pick<WorkBody, 'account' | 'model'>,
): Promise<Pick<WorkBody, 'account'>> {
  const chosen = account ?? (await engineModel(platform, preset, model ?? null)).account;
  return chosen === null ? {} : { account: chosen };
}

/** The definition of the request, else the one that its planned task is for, else the usual one. */
async function definitionFor(
  { store }: SessionPlatform,
  project: Project | null,
  { definition, planned }: WorkBody,
): Promise<string> {
  if (definition !== undefined || planned === undefined || project === null) return definition ?? defaultDefinition;
  return (await plannedTask(store.db, planned, project.id))?.definition ?? defaultDefinition;
}

/** Refuses requests that need exactly one project, or at least one. */
function refuseUnfit(body: WorkBody, grounds: readonly Ground[]): void {
  if (body.mode === 'errand' && grounds.length !== 1) {
    throw new PawlError('invalid_input', 'An errand works in exactly one project.');
  }
  if (grounds.length > 0) return;
  if (body.planned !== undefined) {
    throw new PawlError('invalid_input', 'A planned task belongs to a project, so its work needs that project.', {
      hint: 'Omit --no-project.',
    });
  }
  if (body.base !== undefined) {
    throw new PawlError('invalid_input', 'Work without a project has no commit to start from.', {
      hint: 'Omit --base.',
    });
  }
}

/** A plain fork: the child continues from its parent's state, with its history and, on request, its files. */
export async function forkAgent(
  platform: SessionPlatform,
  barrier: Barrier,
  actor: Actor,
  body: ForkBody,
  request: { key: string | undefined; signal: AbortSignal | null; switchTo: boolean },
): Promise<Agent> {
  const parent = actor.agent;
  const earlier = await agentOfRequest(platform.store.db, request.key);
  if (earlier !== null) return earlier;
  refuseParent(parent);
  if (body.prompt !== undefined) checkTask(body.prompt);
  else if (!actor.isPerson)
    throw new PawlError('invalid_input', 'An agent that forks itself must give the child a task.');
  const grounds = await groundsOfFork(platform, parent, body);
  if (!actor.isPerson) await refuseForeignGrounds(platform, parent, grounds);
  if (body.withFiles === true) refuseFilesWithoutProject(parent);
  const project = grounds[0]?.project ?? null;
  const named = await platform.definitions.find(
    project,
    parent.parentId === null ? defaultDefinition : parent.definition,
  );
  // An agent that forks itself passes on its definition in force, not the one on disk.
  const definition = actor.isPerson ? named : await definitionInForce(platform, parent);
  const asker = parent.parentId === null ? null : parent;
  const path = asker === null ? await personPath(platform, body.searchPath) : await agentPath(platform, asker);
  const wanted = parent.provider ?? body.provider;
  const keyProxy = keyProxyOf(actor, body) ?? parent.keyProxy;
  const access =
    asker === null
      ? await accessOf(platform, actor, {
          asked: body.access,
          definition,
          projects: grounds.map((ground) => ground.project),
        })
      : inheritedAccess(body.access, parent, actor.isPerson);
  const preset = await withAccess(
    platform,
    await chooseProvider(platform, { wanted, definition, asker, project, path }),
    access,
  );
  if (asker === null) await requireInstalled(preset, { PATH: preset.env['PATH'] ?? path });
  const chosen = { model: body.model ?? parent.model, options: { ...parent.options, ...body.options } };
  checkOptions(preset, chosen);
  if (!actor.isPerson) refuseOwnCommand(parent, preset, chosen.options);
  await refuseUninheritable(platform, parent, preset);
  const environment = { ...parent.environment, PATH: path };
  const fork = () =>
    forkNow(
      platform,
      actor,
      { body, grounds, definition, preset, environment, keyProxy, ...access, ...chosen },
      request,
    );
  return actor.isPerson
    ? barrier.pass(
        parent,
        { wait: body.wait ?? true, signal: request.signal, needsFiles: body.withFiles ?? false },
        fork,
      )
    : barrier.passItself(parent, fork);
}

/** Creates the child of an agent that may be forked now. */
async function forkNow(
  platform: SessionPlatform,
  actor: Actor,
  given: Pick<
    ForkRequest,
    'definition' | 'preset' | 'model' | 'options' | 'environment' | 'access' | 'accessNeeds' | 'keyProxy'
  > & {
    body: ForkBody;
    grounds: Ground[];
  },
  request: { key: string | undefined; switchTo: boolean },
): Promise<Agent> {
  const { body, definition, grounds, ...chosen } = given;
  const { agent: parent } = actor;
  const ids = { agent: newId(), run: newId() };
  const drop = async () => {
    if (body.withFiles === true)
      for (const { project } of grounds) await dropForkSnapshot(platform, project.id, ids.agent);
  };
  const begun = await filesFor(platform, { parent, grounds, childId: ids.agent, carry: body.withFiles ?? false }).catch(
    async (error: unknown) => {
      await drop();
      throw error;
    },
  );
  const agentClass = parent.parentId === null ? definition.class : parent.class;
  const prepared: Prepared = {
    ...chosen,
    // A child continues like its parent: same mode, credentials and limits.
    mode: parent.mode,
    accountId:
      parent.parentId === null ? ((await platform.accounts.chosen(chosen.preset.name))?.id ?? null) : parent.accountId,
    budget: parent.budget,
    taskId: null,
    definition: { ...definition, kind: parent.kind, class: agentClass },
    alias: body.alias,
    task: body.prompt ?? null,
    parentRunId: null,
    ids,
    grounds: begun,
    inherit: inheritance,
  };
  let child: Agent | null = null;
  try {
    child = await addChild(platform, actor, request.key, prepared, request.switchTo);
    return child;
  } finally {
    // The fork was refused, or made by the same request before, so these files are unused.
    if (child?.id !== ids.agent) await drop();
  }
}

/** Refuses to start an agent as a helper, which a session only becomes by finding another agent in its checkout. */
function refuseHelperMode({ id }: Definition): void {
  if (id !== helperDefinition) return;
  throw new PawlError('invalid_input', `${helperDefinition} cannot be started as an agent.`, {
    hint: 'A session in a shared checkout becomes a helper by itself: see `pawl hooks install` and `pawl session begin`.',
  });
}

/** The model of the agent that asks, for a provider without a default. */
function modelLike(asker: Agent | null, { name, needsModel }: ProviderPreset): string | null {
  return needsModel === true && asker?.provider === name ? asker.model : null;
}

/** Options that name a program for a provider to run. */
export const commandOptions = ['command', 'config', 'profile'];

/** Only a person, not an agent, may choose the program that a provider runs. */
function refuseOwnCommand(agent: Agent, preset: ProviderPreset, options: Record<string, string>): void {
  for (const name of commandOptions.filter((each) => options[each] !== undefined)) {
    if (agent.provider === preset.name && agent.options[name] === options[name]) continue;
    throw new PawlError('forbidden', `${agent.alias} may not choose the ${name} of the provider ${preset.name}.`, {
      hint: 'A person may choose it, or add it as a provider in config.yaml.',
    });
  }
}

/**
 * Chooses a new agent's credentials and provider variables: the requested account, then the provider's default; else
 * the shell's secrets are stored as a shell account. A child requested by an agent uses that agent's credentials, since
 * an agent has no keys or servers to give.
 */
export async function credentials(
  platform: SessionPlatform,
  actor: Actor,
  preset: ProviderPreset,
  { account, environment = {}, path }: Pick<WorkBody, 'account' | 'environment'> & { path: string },
): Promise<{ accountId: string | null; environment: Record<string, string> }> {
  if (!actor.isPerson) {
    const { agent } = actor;
    if (agent.provider === preset.name)
      return { accountId: agent.accountId, environment: { ...agent.environment, PATH: path } };
    return { accountId: (await platform.accounts.chosen(preset.name))?.id ?? null, environment: { PATH: path } };
  }
  const pick = (names: string[]) =>
    Object.fromEntries(Object.entries(environment).filter(([name]) => names.includes(name)));
  const kept = await platform.accounts.chosen(preset.name, account);
  if (kept === null) refuseIgnored(preset, environment);
  const chosen = kept ?? (await platform.accounts.captureShell(preset, pick(preset.variables.secrets)));
  return { accountId: chosen?.id ?? null, environment: { ...pick(preset.variables.settings), PATH: path } };
}

/**
 * Refuses work if the shell names a server that the provider would ignore: task and key would go to the vendor instead.
 */
function refuseIgnored({ name, variables, account }: ProviderPreset, environment: Record<string, string>): void {
  const variable = variables.ignored?.find((each) => (environment[each] ?? '') !== '');
  if (variable === undefined) return;
  const secret = variables.secrets.find((each) => (environment[each] ?? '') !== '') ?? account?.key ?? 'KEY';
  throw new PawlError(
    'invalid_input',
    `${name} ignores ${variable}: the task would go to its default server, not to the one in your shell.`,
    {
      hint:
        `Add the server as an account: pawl account add ${name} --key-env ${secret} --base-url "$${variable}"; ` +
        `or run the command without the variable: env -u ${variable} pawl …`,
      details: { provider: name, variable },
    },
  );
}

/**
 * Refuses an exec that the caller's definition does not allow; returns the parent run and thread of the child's run.
 */
async function checkExec(
  platform: SessionPlatform,
  actor: Actor,
  grounds: readonly Ground[],
  { target, takesPlanned }: { target: Definition; takesPlanned: boolean },
): Promise<Pick<ForkRequest, 'parentRunId' | 'sessionId'>> {
  const { agent, isPerson } = actor;
  if (isPerson) {
    if (target.kind === 'main') return { parentRunId: null };
    throw new PawlError('invalid_input', `${target.id} is a subagent: it works for an agent, not for a person.`, {
      hint: 'Name a definition of kind main, or let one of your agents delegate to it.',
    });
  }
  await refuseForeignGrounds(platform, agent, grounds);
  const facts = await agentView(platform.store.db, agent.id);
  const caller = { kind: agent.kind, definition: await definitionInForce(platform, agent) };
  checkDelegation(agentRoutes.work.access, caller, target.id);
  if (takesPlanned) checkCase(agentRoutes.work.access, caller);
  const sessionId = facts?.run?.sessionId;
  if (target.kind === 'main') return { parentRunId: null, sessionId };
  if (facts?.run?.outcome === null) return { parentRunId: facts.run.id, sessionId };
  throw new PawlError('conflict', `${agent.alias} is not working, so it cannot delegate.`);
}

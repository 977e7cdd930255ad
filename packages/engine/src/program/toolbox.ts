import { join } from 'node:path';
import { ownServer } from '@pawl/schema/mcp';
import type { Decision } from '../loop/turn.ts';
import { secretVariables } from '../model/model-choice.ts';
import { readProjectServers, readServers } from '../mcp/server-config.ts';
import { Servers } from '../mcp/servers.ts';
import { Commands } from '../tools/commands.ts';
import { FileMemory } from '../tools/file-memory.ts';
import { readSkills, skillsPrompt, skillTool } from '../tools/skills.ts';
import { allTools } from '../tools/tool-set.ts';
import type { GateRequest, Tool, ToolContext } from '../tools/tool.ts';
import type { Approvals } from './approvals.ts';
import type { Arguments } from './arguments.ts';
import { DaemonGate } from './daemon-gate.ts';
import { judgeAccess } from './gate.ts';
import { offered } from './offered-tools.ts';

export type ToolboxPlace = {
  /** The canonical path of the workspace. */
  root: string;
  env: Record<string, string | undefined>;
  outputDirectory: string;
  approvals: Approvals;
  report(problem: string): void;
};

/** The directories of skills: those of the project precede those of the person. */
function skillDirectories(root: string, { PAWL_HOME: pawl, HOME: home }: Record<string, string | undefined>): string[] {
  const own = [pawl ? join(pawl, 'skills') : '', home ? join(home, '.claude', 'skills') : ''].filter(
    (path) => path !== '',
  );
  return [join(root, '.pawl', 'skills'), join(root, '.claude', 'skills'), ...own];
}

/** The tools of a session, their state, and the check before each call. */
export class Toolbox {
  readonly #options: Arguments;
  readonly #approvals: Approvals;
  readonly #servers: Servers;
  readonly #gate: DaemonGate | null;
  /** The part of the system prompt about the tools. */
  readonly prompt: string;
  readonly #own: readonly Tool[];
  readonly #context: Omit<ToolContext, 'signal'>;

  constructor(options: Arguments, { root, env, outputDirectory, approvals, report }: ToolboxPlace) {
    this.#options = options;
    this.#approvals = approvals;
    const files = new FileMemory(options.writeSafety);
    // Commands get no key of a model; programs that serve tools get no token of the agent, either.
    const commandEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.has(name)));
    const { PAWL_AGENT_TOKEN: token = '', ...serverEnv } = commandEnv;
    const named = options.serverFiles.map((file) => readServers(file));
    // Those of the person come before those of the repository.
    const configs = Object.assign(readProjectServers(options.projectServers, serverEnv, report), ...named);
    this.#servers = new Servers(configs, { cwd: root, env: serverEnv, token, report });
    const skills = readSkills(skillDirectories(root, env));
    this.prompt = skillsPrompt(skills);
    this.#own = skills.length === 0 ? allTools : [...allTools, skillTool(skills)];
    const own = configs[ownServer];
    this.#gate = own !== undefined && 'socket' in own ? new DaemonGate(own.socket, token) : null;
    const commands = new Commands({ cwd: root, env: commandEnv, outputDirectory });
    this.#context = { root, files, commands, todo: { items: [] } };
  }

  /** The lists of the command line. A limit in parentheses is for the daemon's gate; without one it allows nothing. */
  get #limits(): Pick<Arguments, 'tools' | 'disallowed'> {
    const { tools, disallowed } = this.#options;
    if (this.#gate === null) return { tools, disallowed };
    const isWhole = (entry: string) => !entry.includes('(');
    return { tools: tools?.map((entry) => entry.replace(/\(.*/s, '')) ?? null, disallowed: disallowed.filter(isWhole) };
  }

  /** The names of our own tools among them. */
  get ownNames(): string[] {
    return offered(this.#own, this.#limits).map(({ name }) => name);
  }

  async tools(signal: AbortSignal): Promise<Tool[]> {
    return offered([...this.#own, ...(await this.#servers.tools(signal))], this.#limits);
  }

  context(signal: AbortSignal): ToolContext {
    return { ...this.#context, signal };
  }

  async decide(request: GateRequest, callId: string, signal: AbortSignal): Promise<Decision> {
    const allowed = (await this.#gate?.decide(request, signal)) ?? { allow: true };
    if (!allowed.allow) return allowed;
    const decision = judgeAccess(this.#options.access, request);
    return decision === 'ask' ? await this.#approvals.ask(request, callId, signal) : decision;
  }

  /** Ends everything that the tools started. */
  async close(): Promise<void> {
    await Promise.all([this.#context.commands.close(), this.#servers.close()]);
  }
}

import type { ClientContext } from '@agentclientprotocol/sdk';
import { methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { PawlError } from '@pawl/schema/error';
import type { Arguments } from '../arguments.ts';
import { at, isObject, listAt, textAt } from '../json.ts';
import type { McpServer, ProtocolContext } from '../protocol.ts';
import { version } from '../version.ts';

/** A conversation that is ready for prompts. */
export type AcpSession = { sessionId: string; model: string | null; takesSystemPrompt: boolean };

/** Initialises, then starts, resumes or forks the conversation, as the agent supports it. */
export async function openAcpSession(agent: ClientContext, context: ProtocolContext): Promise<AcpSession> {
  const { options } = context;
  // No files and no terminals: an agent works on its own machine, where its tools are.
  const hello: unknown = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'pawl', title: 'Pawl', version },
  });
  const can = at(hello, 'agentCapabilities');
  const takesSystemPrompt = isObject(at(can, 'sessionCapabilities', 'systemPrompt'));
  const content = [{ type: 'text', text: context.systemPrompt }];
  const params = {
    cwd: process.cwd(),
    mcpServers: context.mcpServers.map((server) => acpServer(server, can)),
    ...(takesSystemPrompt && context.systemPrompt !== '' ? { systemPrompt: { mode: 'append', content } } : {}),
  };
  const opened: unknown = await agent.request(openingMethod(context, can), {
    ...(options.resume === null ? {} : { sessionId: options.resume }),
    ...params,
  });
  const sessionId = textAt(opened, 'sessionId') || (options.forkSession ? '' : (options.resume ?? ''));
  if (sessionId === '') throw new PawlError('unavailable', 'The agent did not return a session id.');
  await chooseMode(agent, sessionId, opened, options);
  return { sessionId, model: await chooseModel(agent, sessionId, opened, options.model), takesSystemPrompt };
}

function openingMethod({ options }: ProtocolContext, can: unknown): string {
  const offers = (name: string) => isObject(at(can, 'sessionCapabilities', name));
  if (options.resume === null) return 'session/new';
  if (options.forkSession) {
    if (offers('fork')) return 'session/fork';
    throw cannot('fork an earlier conversation');
  }
  if (offers('resume')) return 'session/resume';
  if (at(can, 'loadSession') === true) return 'session/load';
  throw cannot('resume an earlier conversation');
}

function cannot(what: string): PawlError {
  return new PawlError('conflict', `This agent cannot ${what}.`, { hint: 'Start a new conversation.' });
}

/**
 * Modes in which an agent asks before it acts, so that our answers count, or need not ask; the first available is used.
 * In other modes it decides by itself, sometimes by asking a model.
 */
const wantedModes = {
  full: ['full-access', 'default'],
  ask: ['default', 'ask', 'manual', 'read-only'],
  'read-only': ['read-only', 'default', 'plan'],
};

async function chooseMode(
  agent: ClientContext,
  sessionId: string,
  opened: unknown,
  { mode, permission }: Arguments,
): Promise<void> {
  const option = configOption(opened, 'mode');
  const ids = [
    ...listAt(opened, 'modes', 'availableModes').map((each) => textAt(each, 'id')),
    ...listAt(option, 'options').map((each) => textAt(each, 'value')),
  ];
  const current = textAt(opened, 'modes', 'currentModeId') || textAt(option, 'currentValue');
  const wanted = mode ?? wantedModes[permission].find((id) => ids.includes(id));
  if (wanted === undefined || wanted === current) return;
  if (option === undefined) await agent.request('session/set_mode', { sessionId, modeId: wanted });
  else await agent.request('session/set_config_option', { sessionId, configId: textAt(option, 'id'), value: wanted });
}

function configOption(opened: unknown, category: string): unknown {
  return listAt(opened, 'configOptions').find((each) => at(each, 'category') === category);
}

/** Chooses the model by whatever means the agent offers, and returns it. */
async function chooseModel(
  agent: ClientContext,
  sessionId: string,
  opened: unknown,
  wanted: string | null,
): Promise<string | null> {
  const option = configOption(opened, 'model');
  const current = textAt(option, 'currentValue') || textAt(opened, 'models', 'currentModelId') || null;
  if (wanted === null || wanted === current) return current;
  if (option !== undefined) {
    await agent.request('session/set_config_option', { sessionId, configId: textAt(option, 'id'), value: wanted });
  } else if (isObject(at(opened, 'models'))) {
    await agent.request('session/set_model', { sessionId, modelId: wanted });
  } else {
    throw new PawlError('conflict', 'This agent does not support choosing a model.', { hint: 'Leave --model out.' });
  }
  return wanted;
}

function acpServer(server: McpServer, can: unknown): object {
  const pairs = (record: Record<string, string>) => Object.entries(record).map(([name, value]) => ({ name, value }));
  if (server.type === 'stdio') {
    // The agent starts the server with exactly these variables; it may not pass on its own.
    const own = Object.fromEntries(
      server.inherit.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    ) as Record<string, string>;
    return { name: server.name, command: server.command, args: server.args, env: pairs({ ...own, ...server.env }) };
  }
  if (at(can, 'mcpCapabilities', server.type) !== true) {
    throw new PawlError('conflict', `This agent does not support MCP servers over ${server.type}: ${server.name}.`, {
      hint: 'Name a server that is started by a command.',
    });
  }
  return { type: server.type, name: server.name, url: server.url, headers: pairs(server.headers) };
}

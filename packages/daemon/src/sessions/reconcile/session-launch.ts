import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Start } from '@pawl/host/supervise/supervise';
import type { Conversation, SessionCommand } from '@pawl/providers/command';
import { sessionCommand } from '@pawl/providers/command';
import { PawlError } from '@pawl/schema/error';
import { uuidOf } from '@pawl/schema/id';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import { noLimits } from '@pawl/schema/launch-spec';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { settingsOfPlaces } from '../../definitions/trust/place-settings.ts';
import { toolLimits } from '../../definitions/tool-limits.ts';
import { mailForTurn } from '../../mail/turn-mail.ts';
import { agentEnvironment } from '../../platform/agent-environment.ts';
import { workingDirectory } from '../../platform/places.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import { optionsWithMode } from '../../platform/project-settings.ts';
import { writeSessionRecord } from '../../platform/session-record.ts';
import { writePrompt } from '../../prompts/sent.ts';
import { engineModel } from '../../providers/engine-model.ts';
import { sessionServers } from '../session-servers.ts';
import { conversationLines } from './conversation-lines.ts';
import { credentialsFor } from './account-choice.ts';
import { promptFor } from './session-prompt.ts';
import { isConfined, sandboxed } from '../session-sandbox.ts';

/** A planned session, with the provider that runs it. */
type Planned = {
  agent: Agent;
  run: Run;
  session: Session;
  preset: ProviderPreset;
  /** The PATH on which the provider's program was found. */
  searchPath: string;
};

/** Builds the launch of a session, and writes the files that its command reads. */
export async function sessionStart(platform: SessionPlatform, planned: Planned): Promise<Start> {
  const { agent, run, session, preset } = planned;
  const directory = sessionDirectory(platform.home, session.id);
  const temporary = join(directory, 'tmp');
  const chosen = await engineModel(platform, preset, agent.model);
  const { env, baseUrl } = await credentialsFor(platform, planned);
  const credentials = withServer(env, chosen.env, preset);
  const tools = toolLimits(run.definition, preset, Object.keys(platform.choices.mcpServers));
  const limited = tools.enforcement !== 'none';
  const blocked = await blocksSettings(platform, { agent, preset, limited });
  const mail = await mailForTurn(platform, agent, run, session);
  const confined = await isConfined(platform, agent);
  const prompt = await promptFor(platform, { agent, run, session, preset, blocked, confined, mail });
  const words = sessionCommand(preset, {
    conversation: conversationFor(agent, session, preset),
    handedOver: preset.handOver === undefined ? null : await conversationLines(platform, agent, run, session),
    model: chosen.model,
    options: { ...chosen.options, ...(await optionsWithMode(platform, agent, run, preset)) },
    tools,
    // A definition that only reads has nothing to ask for.
    access: tools.readOnly ? 'read-only' : agent.access,
    prompt,
    promptName: uuidOf(session.id),
    directory,
    worktree: workingDirectory(agent),
    mcpServers: sessionServers(platform, agent, session),
    hook: tools.hook ? `${shellWord(join(platform.home.bin, 'pawl'))} hook pre-tool-use` : null,
    blockSettings: blocked,
    baseUrl,
  });
  const plain = launchOf(platform, planned, { words, credentials, directory, temporary });
  const launch = await sandboxed(platform, plain, { agent, session, preset, temporary });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  await writeSessionRecord(directory, launch);
  await writePrompt(directory, { system: prompt.system ?? '', turn: prompt.turn });
  for (const file of words.files) await writeFile(join(directory, file.path), file.content, { mode: 0o600 });
  return { launch, prompt: words.prompt, stdin: words.stdin };
}

function launchOf(
  platform: SessionPlatform,
  { agent, preset, searchPath }: Planned,
  given: { words: SessionCommand; credentials: Record<string, string>; directory: string; temporary: string },
): LaunchSpec {
  const { words, credentials, directory, temporary } = given;
  const working = workingDirectory(agent);
  const rootEnv = process.getuid?.() === 0 ? preset.rootEnv : {};
  const environment = agentEnvironment({
    from: platform.environment,
    path: searchPath,
    provider: { ...preset.env, ...rootEnv, ...credentials, ...words.env },
    agent,
    token: platform.authority.agentToken(agent.id),
    home: platform.home.root,
    pawl: platform.pawl,
    bin: platform.home.bin,
    temporary,
  });
  return {
    command: words.command,
    arguments: words.args,
    environment,
    directories: { working, writable: [working, temporary], readable: [directory, platform.home.bin] },
    sandbox: null,
    // Budgets and silence end a session, not a fixed time.
    limits: noLimits,
  };
}

/** True if a session must ignore the settings of its repository; records that as an event. */
async function blocksSettings(
  platform: SessionPlatform,
  { agent, preset, limited }: { agent: Agent; preset: ProviderPreset; limited: boolean },
): Promise<boolean> {
  const { block, files } = await settingsOfPlaces(platform, { agent, preset, limited });
  if (files.length > 0) {
    await platform.store.write(async (tx) => {
      tx.emit({ type: 'settings.blocked', projectId: agent.projectId, agentId: agent.id, data: { files } });
    });
  }
  return block;
}

/** The environment for a model with a server of its own: a key goes only to the server that it was added for. */
function withServer(
  env: Record<string, string>,
  server: Record<string, string>,
  { variables }: ProviderPreset,
): Record<string, string> {
  if (Object.keys(server).length === 0) return env;
  const plain = Object.entries(env).filter(([name]) => !variables.secrets.includes(name));
  return { ...Object.fromEntries(plain), ...server };
}

/** Quotes a word for a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function conversationFor(agent: Agent, session: Session, preset: ProviderPreset): Conversation {
  const { providerSessionId } = session;
  if (preset.handOver !== undefined || session.conversation === 'new' || session.conversation === 'replay') {
    return { kind: 'new', chosenId: providerSessionId };
  }
  const known = session.conversation === 'fork' ? agent.forkedConversation : providerSessionId;
  if (known === null) {
    throw new PawlError('conflict', 'The provider gave no session id, so its conversation cannot be resumed.');
  }
  return session.conversation === 'fork'
    ? { kind: 'fork', providerSessionId: known, chosenId: providerSessionId }
    : { kind: 'resume', providerSessionId: known };
}

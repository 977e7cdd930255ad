import type { ProviderPreset } from '@pawl/core/port/provider';
import { cutText } from '@pawl/core/shorten';
import { createHost } from '@pawl/host/host';
import { findSession } from '@pawl/host/session/find-session';
import { lastOutput } from '@pawl/host/session/last-output';
import { redactText } from '@pawl/host/output/secret-mask';
import { readSmallFile, sessionFile } from '@pawl/host/session/session-files';
import { startSession } from '@pawl/host/session/start-session';
import { stopSession } from '@pawl/host/session/stop-session';
import { createPauses, monotonicClock } from '@pawl/host/wait';
import type { SessionCommand } from '@pawl/providers/command';
import { sessionCommand } from '@pawl/providers/command';
import { outputParsers } from '@pawl/providers/parser';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { agentEnvironment } from '../platform/agent-environment.ts';
import { accountLimits } from './account-limit.ts';
import type { AccountParts } from './accounts.ts';
import { writePrivateFile } from './private-file.ts';
import type { SessionUse } from './session-use.ts';

/** The result of a test: the CLI's answer, without secrets. */
export type ProbeResult = { ok: boolean; text: string; limitedUntil: number | null; tookMs: number };

export type Probe = Pick<AccountParts, 'home' | 'environment'> & {
  /** The PATH with the provider's program, unless its preset has one. */
  path: string;
  preset: ProviderPreset;
  use: SessionUse;
  secrets: readonly string[];
  model?: string | null;
  timeoutMs?: number;
};

const prefix = '.probe-';
const probePrompt = 'Say ok.';

/**
 * Runs the vendor's CLI with an account in an empty directory for a one-word answer, which costs one small model call.
 * Removes everything it left.
 */
export async function probeAccount(probe: Probe): Promise<ProbeResult> {
  const id = newId();
  const dir = join(probe.home.accounts, `${prefix}${id}`);
  const from = monotonicClock();
  for (const part of ['work', 'tmp']) await mkdir(join(dir, part), { recursive: true, mode: 0o700 });
  try {
    const given = probeCommand(probe, dir);
    for (const file of given.files) await writePrivateFile(join(dir, file.path), file.content);
    const { command, args, prompt, stdin } = given;
    const launch: LaunchSpec = {
      command,
      arguments: args,
      environment: { ...probeEnvironment(probe, join(dir, 'tmp')), ...given.env },
      directories: { working: join(dir, 'work'), writable: [join(dir, 'work'), join(dir, 'tmp')], readable: [dir] },
      sandbox: null,
      limits: { runMs: probe.timeoutMs ?? accountLimits.testMs, outputBytes: null },
    };
    await startSession(createHost(), { dir, launch, prompt, stdin, marker: id });
    await ended(dir, probe.timeoutMs ?? accountLimits.testMs);
    return { ...(await judge(probe, dir)), tookMs: Math.round(monotonicClock() - from) };
  } finally {
    await endProbe(dir, id, probe.preset.firstSignal);
  }
}

/** Ends tests that a previous daemon left running. */
export async function endProbes(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (name.startsWith(prefix)) await endProbe(join(root, name), name.slice(prefix.length), 'SIGTERM');
  }
}

async function endProbe(dir: string, marker: string, firstSignal: NodeJS.Signals): Promise<void> {
  const { identity } = await findSession(dir);
  await stopSession(createHost(), { identity, dir, marker, firstSignal, graceMs: 1_000 });
  await rm(dir, { recursive: true, force: true, maxRetries: 3 });
}

function probeCommand({ preset, use, model = null }: Probe, dir: string): SessionCommand {
  const given = {
    conversation: { kind: 'new' as const, chosenId: preset.chooseSession === null ? null : randomUUID() },
    model,
    options: {},
    tools: { allowed: null, denied: [], readOnly: false },
    access: preset.access.readOnly === null ? ('full' as const) : ('read-only' as const),
    prompt: { system: null, turn: probePrompt },
    directory: dir,
    worktree: join(dir, 'work'),
    mcpServers: {},
    hook: null,
    blockSettings: false,
    baseUrl: use.baseUrl,
  };
  // End the input after the prompt, so that the CLI exits after its answer.
  return { ...sessionCommand(preset, given), stdin: 'file' };
}

/** Like an agent's environment, but without a token: it cannot call the daemon. */
function probeEnvironment({ home, environment, path, preset, use }: Probe, temporary: string): Record<string, string> {
  const rootEnv = process.getuid?.() === 0 ? preset.rootEnv : {};
  const env = agentEnvironment({
    from: environment,
    path: preset.env['PATH'] ?? path,
    provider: { ...preset.env, ...rootEnv, ...use.env },
    agent: { id: '', alias: '' },
    token: '',
    home: home.root,
    pawl: '',
    bin: home.bin,
    temporary,
  });
  const ofAgents = /^PAWL_(?!ENGINE_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofAgents.test(name)));
}

async function ended(dir: string, timeoutMs: number): Promise<void> {
  const until = monotonicClock() + timeoutMs;
  const pause = createPauses();
  while ((await findSession(dir)).alive) {
    if (monotonicClock() >= until) {
      throw new PawlError('timeout', `The CLI did not answer within ${Math.round(timeoutMs / 1000)} s.`, {
        hint: 'A usage limit may be the cause. Try the CLI by hand, or retry later.',
      });
    }
    await pause();
  }
}

/** The CLI's result decides; without one, its exit code and stderr. */
async function judge({ preset, secrets }: Probe, dir: string): Promise<Omit<ProbeResult, 'tookMs'>> {
  const { parse } = outputParsers[preset.outputFormat];
  const output = readSmallFile(sessionFile(dir, 'out'), accountLimits.testBytes) ?? '';
  const events: StreamEvent[] = output.split('\n').flatMap((line) => (line === '' ? [] : parse(line)));
  const result = events.findLast((event) => event.type === 'result');
  const limit = events.findLast((event) => event.type === 'limit');
  const said = events.findLast((event) => event.type === 'text');
  const { exit } = await findSession(dir);
  const complaint = (await lastOutput(dir, 'err')).trim();
  const ok = result?.ok ?? (exit?.code === 0 && limit === undefined);
  const words = result?.text || said?.text || complaint || `the CLI ended with ${exit?.code ?? 'no exit code'}`;
  return {
    ok,
    text: cutText(redactText(words.trim(), secrets), accountLimits.testCharacters),
    limitedUntil: ok ? null : (limit?.until ?? null),
  };
}

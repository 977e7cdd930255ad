import type { ProviderPreset } from '@pawl/core/port/provider';
import { definePreset } from './base.ts';
import { codex, codexQuiet } from './codex.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { copilot } from './others.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

/** Shared by all providers with a live protocol, which the bridge translates to Claude's stream. */
const bridged = {
  promptMode: 'stream-json',
  echoes: true,
  systemPrompt: ['--append-system-prompt-file', '{file}'],
  resume: ['--resume', '{session}'],
  access: { full: ['--permission', 'full'], ask: null, readOnly: ['--permission', 'read-only'] },
  mcp: { format: 'claude', arguments: ['--mcp-config', '{file}'], variables: 'named' },
  model: ['--model', '{model}'],
  outputFormat: 'claude-stream-json',
} satisfies Partial<ProviderPreset>;

/** The providers behind the bridge; `bridge` is its command. */
export function bridgedPresets(bridge: [string, ...string[]]): ProviderPreset[] {
  const fork: Pick<ProviderPreset, 'fork' | 'forkStyle'> = {
    fork: ['--resume', '{session}', '--fork-session'],
    forkStyle: 'native',
  };
  return [
    definePreset({
      ...bridged,
      name: 'acp',
      description: 'any agent that speaks ACP; the option command says which',
      command: [...bridge, 'acp'],
      process: { names: [], commandLine: null },
      version: null,
      promptArguments: ['--', '/bin/sh', '-c', '{command}'],
      // The agent decides what it asks about, so it cannot be kept from writing.
      access: { ...bridged.access, ask: ['--permission', 'ask'], readOnly: null },
      options: { command: [], mode: ['--mode', '{value}'] },
    }),
    definePreset({
      ...codex,
      ...bridged,
      ...fork,
      name: 'codex-live',
      access: { ...bridged.access, ask: ['--permission', 'ask'] },
      accountsOf: 'codex',
      description: 'OpenAI Codex through its app server, which takes messages in the middle of a turn',
      command: [...bridge, 'codex'],
      program: 'codex',
      promptArguments: ['--', 'codex', 'app-server', ...codexQuiet, '{rest}'],
      options: {},
    }),
    definePreset({
      ...pi,
      ...bridged,
      ...fork,
      name: 'pi-live',
      description: 'pi through its rpc mode, which takes messages in the middle of a turn',
      command: [...bridge, 'pi'],
      program: 'pi',
      promptArguments: ['--', 'pi', '--mode', 'rpc', '{rest}'],
      // It takes no MCP servers.
      mcp: null,
      options: {},
    }),
    askingByAcp(bridge, gemini, ['gemini', '--acp', '--approval-mode', 'default']),
    {
      ...askingByAcp(bridge, qwen, ['qwen', '--acp', '--approval-mode', 'default']),
      // Over ACP it takes only models that it lists.
      model: ['env:OPENAI_MODEL={model}'],
    },
    {
      ...askingByAcp(bridge, copilot, ['copilot', '--acp', '--no-auto-update', '--disable-client-telemetry']),
      // With a server of your own it does not start without a model.
      model: ['env:COPILOT_MODEL={model}'],
    },
    askingByAcp(
      bridge,
      {
        ...opencode,
        // Without a model it would take one of its own service here, even if there is a key for another.
        env: { ...opencode.env, OPENCODE_CONFIG_CONTENT: JSON.stringify({ disabled_providers: ['opencode'] }) },
      },
      ['opencode', 'acp'],
      [`env:OPENCODE_PERMISSION=${JSON.stringify(opencodeAsks)}`],
    ),
  ];
}

/** OpenCode asks only where it is told to. Pawl's own verbs need no approval: the daemon checks each. */
const opencodeAsks = {
  '*': 'ask',
  ...Object.fromEntries(
    ['read', 'list', 'glob', 'grep', 'todoread', 'todowrite', 'pawl_*'].map((name) => [name, 'allow']),
  ),
};

/** A CLI that cannot ask a person in its unattended mode, through its ACP mode, where it can. */
function askingByAcp(
  bridge: [string, ...string[]],
  cli: ProviderPreset,
  command: [string, ...string[]],
  ask: string[] = [],
): ProviderPreset {
  return definePreset({
    ...cli,
    ...bridged,
    name: `${cli.name}-acp`,
    description: `${cli.description} through ACP, which asks before it acts`,
    accountsOf: cli.name,
    command: [...bridge, 'acp'],
    program: command[0],
    promptArguments: ['--', ...command, '{rest}'],
    // The agent makes the id.
    chooseSession: null,
    fork: null,
    forkStyle: 'replay',
    access: { full: ['--permission', 'full'], ask: ['--permission', 'ask', ...ask], readOnly: null },
    options: {},
  });
}

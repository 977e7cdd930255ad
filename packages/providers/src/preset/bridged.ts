import type { ProviderPreset } from '@pawl/core/port/provider';
import { definePreset } from './base.ts';
import { codex, codexQuiet } from './codex.ts';
import { pi } from './pi.ts';

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
      // An ACP agent cannot be kept from acting without asking.
      access: { ...bridged.access, readOnly: null },
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
  ];
}

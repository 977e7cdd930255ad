import type { ProviderPreset } from '@pawl/core/port/provider';
import { baseAccount, definePreset } from './base.ts';

/**
 * Pawl's own agent, which works with the models of several vendors. `stateDirectory` has the long output of commands.
 */
export function pawlPreset(program: [string, ...string[]], stateDirectory: string): ProviderPreset {
  return definePreset({
    name: 'pawl',
    description: "Pawl's own agent, for any model; name it as VENDOR/MODEL",
    command: [...program, '--include-partial-messages', '--replay-user-messages'],
    process: { names: [], commandLine: '(^|/)pawl-engine\\.mjs$' },
    env: { PAWL_ENGINE_HOME: stateDirectory },
    version: null,
    variables: {
      settings: [
        'PAWL_ENGINE_MODEL',
        'PAWL_ENGINE_BASE_URL',
        'ANTHROPIC_BASE_URL',
        'OPENAI_BASE_URL',
        'GOOGLE_GEMINI_BASE_URL',
      ],
      secrets: ['PAWL_ENGINE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    },
    account: {
      ...baseAccount,
      key: 'PAWL_ENGINE_API_KEY',
      baseUrl: 'PAWL_ENGINE_BASE_URL',
      directory: 'PAWL_ENGINE_HOME',
    },
    promptMode: 'stream-json',
    echoes: true,
    systemPrompt: ['--append-system-prompt-file', '{file}'],
    chooseSession: ['--session-id', '{session}'],
    handOver: ['--conversation', '{file}'],
    // It gets the whole conversation from Pawl, so it needs no arguments to resume one.
    resume: [],
    fork: [],
    forkStyle: 'native',
    tools: { allow: ['--tools', '{tools}'], deny: ['--disallowedTools', '{tools}'] },
    access: { full: ['--access', 'full'], ask: ['--access', 'ask'], readOnly: ['--access', 'read-only'] },
    mcp: { format: 'pawl', arguments: ['--mcp-config', '{file}'] },
    model: ['--model', '{model}'],
    needsModel: true,
    repositorySettings: { paths: ['.mcp.json'], block: [], allow: ['--project-servers', '.mcp.json'] },
    options: {
      mode: ['--mode', '{value}'],
      'max-iters': ['--max-iters', '{value}'],
      'context-tokens': ['--context-tokens', '{value}'],
      'write-safety': ['--write-safety', '{value}'],
      price: ['--price', '{value}'],
    },
    outputFormat: 'claude-stream-json',
    patterns: {
      limit: ['usage limit', 'quota', 'credit balance is too low'],
      transient: ['api error: (?:429|5\\d\\d)', 'connection error'],
      auth: ['invalid api key', 'failed to authenticate'],
    },
  });
}

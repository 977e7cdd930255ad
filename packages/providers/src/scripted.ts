import type { ProviderPreset } from '@pawl/core/port/provider';

/** The scripted agent: a real process that plays a scenario. It needs no model, account or network. */
export function scriptedPreset(program: [string, ...string[]], stateDirectory: string): ProviderPreset {
  return {
    name: 'scripted',
    description: 'plays a scenario file; needs no model',
    command: [
      ...program,
      '-p',
      '--input-format',
      'stream-json',
      '--output-format',
      'stream-json',
      '--replay-user-messages',
    ],
    process: { names: [], commandLine: '(^|/)scripted-agent(\\.m?js|/bin\\.ts)$' },
    env: { PAWL_SCRIPTED_STATE: stateDirectory },
    rootEnv: {},
    version: null,
    install: null,
    variables: { settings: ['SCRIPTED_BASE_URL'], secrets: ['SCRIPTED_API_KEY'] },
    // It needs no credentials, but accepts them like the others, to test accounts.
    account: {
      key: 'SCRIPTED_API_KEY',
      token: 'SCRIPTED_TOKEN',
      baseUrl: 'SCRIPTED_BASE_URL',
      elsewhere: { variables: [], files: { 'settings.json': 'baseUrl' } },
      directory: 'PAWL_SCRIPTED_STATE',
      baseUrlArguments: [],
      files: {},
      conversations: ['{session}.json'],
      credentials: '.credentials.json',
    },
    promptMode: 'stream-json',
    echoes: true,
    promptArguments: [],
    systemPrompt: null,
    chooseSession: ['--session-id', '{session}'],
    resume: ['--resume', '{session}'],
    fork: ['--resume', '{session}', '--fork-session'],
    forkStyle: 'native',
    tools: { allow: ['--tools', '{tools}'], deny: ['--disallowedTools', '{tools}'] },
    access: { full: [], ask: [], readOnly: null },
    hook: null,
    mcp: null,
    model: ['--model', '{model}'],
    options: { scenario: ['--scenario', '{value}'] },
    outputFormat: 'claude-stream-json',
    patterns: { limit: [], transient: [], auth: [] },
    silence: { noticeMs: 30_000, hangMs: 30 * 60_000 },
    scripted: true,
    reportsCost: true,
    firstSignal: 'SIGTERM',
    // It reads no such file, but is treated like those that do, to test trust.
    repositorySettings: { paths: ['.scripted/settings.json'], block: null },
  };
}

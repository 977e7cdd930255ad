import { baseAccount, definePreset } from './base.ts';

/** GitHub Copilot CLI. */
export const copilot = definePreset({
  name: 'copilot',
  homePlaces: ['.copilot'],
  description: 'GitHub Copilot CLI',
  command: ['copilot', '--output-format', 'json', '--no-ask-user', '--no-auto-update', '--disable-client-telemetry'],
  process: { names: ['copilot'], commandLine: '(^|/)copilot$|/@github/copilot/' },
  install: 'npm install -g @github/copilot',
  variables: {
    settings: [
      'COPILOT_HOME',
      'COPILOT_MODEL',
      'COPILOT_OFFLINE',
      'COPILOT_PROVIDER_BASE_URL',
      'COPILOT_PROVIDER_TYPE',
      'COPILOT_PROVIDER_WIRE_API',
    ],
    secrets: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
  },
  hosts: ['api.githubcopilot.com', '*.githubcopilot.com', 'api.github.com', 'github.com'],
  account: {
    ...baseAccount,
    key: 'COPILOT_PROVIDER_API_KEY',
    token: 'COPILOT_GITHUB_TOKEN',
    baseUrl: 'COPILOT_PROVIDER_BASE_URL',
    elsewhere: { variables: [], files: {} },
    directory: 'COPILOT_HOME',
    // With your own server nothing of GitHub's is needed.
    baseUrlArguments: ['env:COPILOT_OFFLINE=true'],
  },
  // It reports its own id only at the end, so we always choose one.
  chooseSession: ['--session-id={session}'],
  resume: ['--resume={session}'],
  access: { full: ['--allow-all'], ask: null, askWith: 'copilot-acp', readOnly: null },
  mcp: { format: 'copilot', arguments: ['--additional-mcp-config', '@{file}'] },
  model: ['--model', '{model}'],
  outputFormat: 'copilot-json',
  patterns: {
    limit: ['"errortype":"rate_limit"', 'quota', 'premium requests'],
    transient: ['overloaded', '\\b5\\d\\d\\b'],
    auth: ['not logged in', 'unauthorized'],
  },
  firstSignal: 'SIGINT',
  repositorySettings: { paths: ['.github/hooks/**', '.copilot/**', '.mcp.json', '.vscode/mcp.json'], block: null },
});

/** The provider for an account with a base URL. A key in a variable stays out of the file. */
const clineProviders = {
  version: 1,
  lastUsedProvider: 'openai-compatible',
  modes: {},
  providers: {
    'openai-compatible': {
      settings: { provider: 'openai-compatible', baseUrl: '{baseUrl}' },
      updatedAt: '2026-01-01T00:00:00.000Z',
      tokenSource: 'manual',
    },
  },
};

/** Cline, which cannot resume a conversation unattended. */
export const cline = definePreset({
  name: 'cline',
  homePlaces: ['.cline'],
  description: 'Cline',
  command: ['cline', '--json'],
  process: { names: ['cline'], commandLine: '(^|/)cline$|/node_modules/cline/' },
  env: {
    // Otherwise its hub stays behind as a daemon, with the environment and directory of the first session.
    CLINE_SESSION_BACKEND_MODE: 'local',
    CLINE_NO_AUTO_UPDATE: '1',
  },
  install: 'npm install -g cline',
  variables: { settings: ['CLINE_DIR'], secrets: [] },
  account: {
    ...baseAccount,
    key: 'OPENAI_API_KEY',
    directory: 'CLINE_DIR',
    files: {
      'data/settings/providers.json': JSON.stringify(clineProviders),
      'data/settings/global-settings.json': '{"telemetryOptOut":true,"autoUpdateEnabled":false}',
    },
  },
  // With --json it does not read stdin.
  promptMode: 'argument',
  promptArguments: ['{prompt}'],
  access: { full: ['--auto-approve', 'true'], ask: null, readOnly: ['--plan'] },
  // It passes on only its PATH.
  mcp: { format: 'claude', arguments: ['env:CLINE_MCP_SETTINGS_PATH={file}'], variables: 'written' },
  model: ['-m', '{model}'],
  options: { provider: ['-P', '{value}'], thinking: ['--thinking', '{value}'] },
  outputFormat: 'cline-json',
  // It retries silently for a minute before it reports a limit.
  silence: { noticeMs: 45_000, hangMs: 45 * 60_000 },
  firstSignal: 'SIGINT',
  repositorySettings: { paths: ['.cline/**', '.clinerules/hooks/**'], block: null },
});

/** The model of an account with a base URL; the CLI fills in variables itself. */
const continueConfig = `name: pawl
version: 1.0.0
schema: v1
models:
  - name: pawl
    provider: openai
    model: \${{ secrets.CONTINUE_MODEL }}
    apiBase: "{baseUrl}"
    apiKey: \${{ secrets.{key} }}
`;

/** Continue's CLI, which prints only its last words. */
export const continueCli = definePreset({
  name: 'continue',
  homePlaces: ['.continue'],
  description: 'Continue CLI',
  command: ['cn', '-p', '--format', 'json'],
  process: { names: ['cn'], commandLine: '(^|/)cn$|/@continuedev/cli/' },
  env: { CONTINUE_CLI_ENABLE_TELEMETRY: '0', CONTINUE_METRICS_ENABLED: '0' },
  install: 'npm install -g @continuedev/cli',
  variables: {
    settings: ['CONTINUE_GLOBAL_DIR'],
    secrets: ['CONTINUE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
  },
  account: {
    ...baseAccount,
    key: 'OPENAI_API_KEY',
    token: 'CONTINUE_API_KEY',
    directory: 'CONTINUE_GLOBAL_DIR',
    files: { 'config.yaml': continueConfig },
  },
  // It reads stdin only from a pipe.
  promptMode: 'argument',
  promptArguments: ['{prompt}'],
  systemPrompt: ['--rule', '{file}'],
  access: { full: ['--auto'], ask: null, readOnly: ['--readonly'] },
  model: ['env:CONTINUE_MODEL={model}'],
  options: { config: ['--config', '{value}'] },
  outputFormat: 'continue-json',
  patterns: {
    limit: ['\\b429\\b', 'exceeded your current quota', 'rate limit'],
    transient: ['overloaded', '\\b5\\d\\d\\b', 'connection error'],
    auth: ['\\b401\\b', 'incorrect api key', 'not authenticated'],
  },
  // It retries silently for two minutes before it reports a limit.
  silence: { noticeMs: 45_000, hangMs: 45 * 60_000 },
  repositorySettings: { paths: ['.continue/**'], block: null },
});

/** aider, which works on the files it is given or finds. */
export const aider = definePreset({
  name: 'aider',
  description: 'aider',
  // By default, it would add itself to .gitignore.
  command: ['aider', '--no-pretty', '--no-stream', '--no-check-update', '--no-analytics', '--no-gitignore'],
  process: { names: ['aider'], commandLine: '(^|/)aider$' },
  install: 'uv tool install aider-chat',
  variables: {
    settings: ['AIDER_MODEL', 'OPENAI_API_BASE', 'ANTHROPIC_BASE_URL'],
    secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
  },
  account: { ...baseAccount, key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_API_BASE' },
  promptMode: 'argument',
  promptArguments: ['--message-file', '{promptFile}'],
  access: {
    full: ['--yes-always'],
    ask: null,
    readOnly: ['--dry-run', '--no-suggest-shell-commands', '--no-auto-commits'],
  },
  model: ['--model', '{model}'],
  repositorySettings: {
    paths: ['.aider.conf.yml', '.aider.model.settings.yml', '.aider.model.metadata.json', '.env'],
    block: null,
  },
});

/** Cursor's CLI. */
export const cursorAgent = definePreset({
  name: 'cursor-agent',
  description: 'Cursor CLI',
  command: ['cursor-agent', '-p', '--output-format', 'stream-json'],
  process: { names: ['cursor-agent'], commandLine: '/cursor-agent/' },
  install: 'curl https://cursor.com/install -fsS | bash',
  variables: { settings: [], secrets: ['CURSOR_API_KEY'] },
  account: { ...baseAccount, key: 'CURSOR_API_KEY' },
  promptMode: 'argument',
  promptArguments: ['{prompt}'],
  resume: ['--resume', '{session}'],
  access: { full: ['--force'], ask: null, readOnly: null },
  model: ['--model', '{model}'],
  outputFormat: 'claude-stream-json',
  repositorySettings: { paths: ['.cursor/**'], block: null },
});

/** Any shell command that reads its task from stdin. */
export const generic = definePreset({
  name: 'generic',
  description: 'any command that reads its task from stdin; the option command says which',
  command: ['/bin/sh', '-c'],
  version: null,
  promptArguments: ['{command}'],
  options: { command: [] },
});

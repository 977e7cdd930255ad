import { baseAccount, definePreset } from './base.ts';

/** OpenCode, one process per turn. */
export const opencode = definePreset({
  name: 'opencode',
  homePlaces: ['.config/opencode', '.local/share/opencode', '.local/state/opencode', '.cache/opencode'],
  description: 'OpenCode',
  // With a title it does not ask the model for one; its log on stderr is the only report of a limit.
  command: ['opencode', 'run', '--format', 'json', '--title', 'pawl', '--print-logs', '--log-level', 'ERROR'],
  process: { names: ['opencode'], commandLine: '(^|/)opencode$' },
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_TERMINAL_TITLE: '1',
    // It ships a list of models; it would download a newer one, and language servers.
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  },
  install: 'npm install -g opencode-ai',
  variables: {
    settings: [
      'ANTHROPIC_BASE_URL',
      'OPENAI_BASE_URL',
      'OPENCODE_CONFIG',
      'OPENCODE_CONFIG_DIR',
      'OPENCODE_DISABLE_MODELS_FETCH',
      'OPENCODE_DISABLE_LSP_DOWNLOAD',
      'OPENCODE_DISABLE_DEFAULT_PLUGINS',
      'XDG_CONFIG_HOME',
      'XDG_DATA_HOME',
      'XDG_STATE_HOME',
      'XDG_CACHE_HOME',
    ],
    secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY', 'OPENCODE_AUTH_CONTENT'],
  },
  hosts: ['api.anthropic.com', 'api.openai.com', 'openrouter.ai', 'opencode.ai'],
  account: {
    ...baseAccount,
    key: 'ANTHROPIC_API_KEY',
    token: 'OPENCODE_AUTH_CONTENT',
    // Its conversations are rows of one database: another key does not move them.
    baseUrl: 'ANTHROPIC_BASE_URL',
    server: 'https://api.anthropic.com/v1',
    elsewhere: {
      variables: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'XDG_CONFIG_HOME'],
      files: Object.fromEntries(
        ['config.json', 'opencode.json', 'opencode.jsonc'].map((name) => [`~/.config/opencode/${name}`, 'baseURL']),
      ),
    },
  },
  resume: ['--session', '{session}'],
  // It can fork, but only in the directory where the conversation started; from another one it hangs.
  fork: null,
  access: {
    full: ['--auto'],
    ask: null,
    askWith: 'opencode-acp',
    readOnly: ['--auto', 'env:OPENCODE_PERMISSION={"edit":"deny","bash":"deny","task":"deny"}'],
  },
  mcp: { format: 'opencode', variable: 'OPENCODE_CONFIG_CONTENT' },
  model: ['-m', '{model}'],
  options: { agent: ['--agent', '{value}'], variant: ['--variant', '{value}'] },
  outputFormat: 'opencode-json',
  patterns: {
    limit: ['exceeded your current quota', 'usage limit', 'credit balance', 'exceed your account.s rate limit'],
    transient: ['overloaded', 'rate.?limit', '"statuscode":(?:429|5\\d\\d)'],
    auth: ['"statuscode":401', 'invalid x-api-key', 'no auth'],
    // Every line of its log starts with a timestamp.
    reset: ['retry-after', '\\b(?:resets?|try again)(?: at| in)?'],
  },
  // At a limit it waits as long as the provider says, with a note only in its log.
  silence: { noticeMs: 45_000, hangMs: 45 * 60_000 },
  repositorySettings: {
    paths: ['opencode.json', 'opencode.jsonc', '.opencode/**'],
    block: ['env:OPENCODE_DISABLE_PROJECT_CONFIG=1'],
    hides: ['AGENTS.md', 'CLAUDE.md'],
  },
  reportsCost: true,
});

import { definePreset } from './base.ts';

/** No telemetry, no update checks, and no traffic to hosts other than the model's. */
export const codexQuiet = [
  '-c',
  'check_for_update_on_startup=false',
  '-c',
  'analytics.enabled=false',
  '-c',
  'features.plugins=false',
  '-c',
  'features.apps=false',
];

/** Codex, one process per turn. */
export const codex = definePreset({
  name: 'codex',
  homePlaces: ['.codex'],
  description: 'OpenAI Codex',
  command: ['codex', 'exec', '--json', '--skip-git-repo-check', ...codexQuiet],
  process: {
    names: ['codex', 'codex-x86_64-unknown-linux-musl', 'codex-aarch64-unknown-linux-musl'],
    commandLine: '(^|/)codex(\\.js)?$',
  },
  install: 'npm install -g @openai/codex',
  variables: {
    settings: ['CODEX_HOME'],
    secrets: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    // It takes its server only from its config.
    ignored: ['OPENAI_BASE_URL'],
  },
  hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
  account: {
    key: 'CODEX_API_KEY',
    token: null,
    baseUrl: null,
    server: 'https://api.openai.com/v1',
    elsewhere: {
      variables: [],
      files: { 'config.toml': 'base_url|model_provider|^\\s*profile\\s*=|^\\s*\\[profiles' },
    },
    serverIn: { file: 'config.toml', pattern: '^openai_base_url\\s*=\\s*"([^"\\\\]+)"\\s*$' },
    directory: 'CODEX_HOME',
    baseUrlArguments: [
      '-c',
      'model_provider="pawl"',
      '-c',
      'model_providers.pawl.name="pawl"',
      '-c',
      'model_providers.pawl.base_url="{baseUrl}"',
      '-c',
      'model_providers.pawl.env_key="{key}"',
      '-c',
      'model_providers.pawl.wire_api="responses"',
      '-c',
      'model_providers.pawl.request_max_retries=3',
      '-c',
      'model_providers.pawl.stream_max_retries=3',
    ],
    files: {},
    conversations: ['sessions/**/rollout-*-{session}.jsonl'],
    credentials: null,
  },
  promptArguments: ['-'],
  // Its `developer_instructions` stay those of the first turn, and a fork would keep its parent's.
  systemPrompt: null,
  resume: ['resume', '{session}'],
  fork: ['fork', '{session}'],
  forkStyle: 'native',
  // In its sandbox with a writable workspace, .git stays read-only, so nothing could be committed.
  access: {
    full: ['--dangerously-bypass-approvals-and-sandbox'],
    ask: null,
    askWith: 'codex-live',
    readOnly: ['-s', 'read-only'],
  },
  mcp: { format: 'codex' },
  model: ['-m', '{model}'],
  options: { effort: ['-c', 'model_reasoning_effort={value}'], profile: ['-p', '{value}'] },
  outputFormat: 'codex-exec',
  patterns: {
    limit: ['hit your usage limit', 'quota exceeded'],
    transient: ['at capacity', 'exceeded retry limit', 'stream disconnected', 'reconnecting'],
    auth: ['401 unauthorized', 'not logged in', 'missing environment variable', 'refresh token'],
  },
  // On SIGTERM it leaves a tool's command behind.
  firstSignal: 'SIGINT',
  repositorySettings: {
    paths: ['.codex/**'],
    // With full access it trusts a repository by itself, and writes that into the person's config.
    block: ['-c', 'projects={"{worktree}"={trust_level="untrusted"}}'],
    hides: ['AGENTS.md'],
  },
});

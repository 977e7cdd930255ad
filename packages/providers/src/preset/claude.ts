import { definePreset } from './base.ts';

/** Settings with which it calls another server, or with another key. */
const otherServer = 'ANTHROPIC_(BASE_URL|AUTH_TOKEN)|apiKeyHelper|CLAUDE_CODE_USE_';

/** Claude Code, with a stdin that stays open. */
export const claude = definePreset({
  name: 'claude',
  homePlaces: ['.claude', '.claude.json'],
  description: 'Claude Code',
  command: [
    'claude',
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    '--include-partial-messages',
    '--replay-user-messages',
  ],
  process: { names: ['claude'], commandLine: '(^|/)claude$|/claude-code/[^ ]*\\.m?js$' },
  env: {
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '3',
    // With its settings blocked, a repository's CLAUDE.md is read as that of an added directory.
    CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
  },
  rootEnv: { IS_SANDBOX: '1' },
  install: 'npm install -g @anthropic-ai/claude-code',
  variables: {
    settings: [
      'ANTHROPIC_BASE_URL',
      'ANTHROPIC_MODEL',
      'ANTHROPIC_SMALL_FAST_MODEL',
      'ANTHROPIC_DEFAULT_OPUS_MODEL',
      'ANTHROPIC_DEFAULT_SONNET_MODEL',
      'ANTHROPIC_DEFAULT_HAIKU_MODEL',
      'CLAUDE_CONFIG_DIR',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
      'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
      'CLAUDE_CODE_MAX_RETRIES',
      'MAX_THINKING_TOKENS',
      'API_TIMEOUT_MS',
      'ENABLE_TOOL_SEARCH',
      'AWS_REGION',
      'AWS_PROFILE',
      'CLOUD_ML_REGION',
      'ANTHROPIC_VERTEX_PROJECT_ID',
    ],
    secrets: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_CUSTOM_HEADERS',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'AWS_BEARER_TOKEN_BEDROCK',
    ],
  },
  hosts: ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com'],
  account: {
    key: 'ANTHROPIC_API_KEY',
    token: 'CLAUDE_CODE_OAUTH_TOKEN',
    baseUrl: 'ANTHROPIC_BASE_URL',
    server: 'https://api.anthropic.com',
    elsewhere: {
      variables: ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX'],
      files: { 'settings.json': otherServer, '/etc/claude-code/managed-settings.json': otherServer },
    },
    directory: 'CLAUDE_CONFIG_DIR',
    baseUrlArguments: [],
    files: { '.claude.json': '{"hasCompletedOnboarding":true}' },
    // It finds a conversation from any directory.
    conversations: ['projects/*/{session}.jsonl', 'projects/*/{session}/**'],
    credentials: '.credentials.json',
  },
  promptMode: 'stream-json',
  echoes: true,
  // Without the last two words, a resumed or forked conversation keeps its original system prompt.
  systemPrompt: ['--append-system-prompt-file', '{file}', '--system-prompt-snapshot', 'off'],
  chooseSession: ['--session-id', '{session}'],
  resume: ['--resume', '{session}'],
  fork: ['--resume', '{session}', '--fork-session'],
  forkStyle: 'native',
  // `--allowedTools` only lists tools that need no permission, so it restricts nothing in unattended mode.
  tools: { allow: ['--tools', '{tools}'], deny: ['--disallowedTools', '{tools}'] },
  access: {
    full: ['--dangerously-skip-permissions'],
    // Pawl's own verbs need no approval: the daemon checks each by the agent's token.
    ask: [
      '--permission-mode',
      'default',
      '--permission-prompt-tool',
      'stdio',
      '--allowedTools',
      'Bash(pawl:*),mcp__pawl',
    ],
    // With `dontAsk`, whatever needs permission is denied. Read-only commands pass.
    readOnly: ['--permission-mode', 'dontAsk', '--allowedTools', 'Bash(pawl:*),mcp__pawl'],
  },
  hook: ['--settings', '{file}'],
  mcp: { format: 'claude', arguments: ['--mcp-config', '{file}'] },
  model: ['--model', '{model}'],
  options: { effort: ['--effort', '{value}'], 'fallback-model': ['--fallback-model', '{value}'] },
  outputFormat: 'claude-stream-json',
  patterns: {
    limit: ['hit your .{1,40} limit', 'credit balance is too low', 'usage limit reached'],
    transient: ['overloaded', 'api error: (?:429|5\\d\\d)', 'connection error'],
    auth: ['invalid api key', 'please run /login', 'oauth token (?:has expired|revoked)', 'failed to authenticate'],
  },
  firstSignal: 'SIGINT',
  repositorySettings: {
    paths: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
    block: ['--setting-sources', 'user', '--strict-mcp-config', '--add-dir', '.'],
  },
  reportsCost: true,
});

/** An alias. */
export const claudeCode = { ...claude, name: 'claude-code', description: 'Claude Code; the same as claude' };

import { definePreset } from './base.ts';

/** Qwen Code, with a stdin that stays open. */
export const qwen = definePreset({
  name: 'qwen',
  homePlaces: ['.qwen'],
  description: 'Qwen Code',
  command: ['qwen', '--input-format', 'stream-json', '--output-format', 'stream-json', '--include-partial-messages'],
  process: { names: ['qwen'], commandLine: '(^|/)qwen$|/qwen-code/' },
  env: {
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
    QWEN_USAGE_STATISTICS_ENABLED: 'false',
    QWEN_TELEMETRY_ENABLED: 'false',
  },
  install: 'npm install -g @qwen-code/qwen-code',
  variables: {
    settings: ['OPENAI_BASE_URL', 'OPENAI_MODEL', 'QWEN_HOME'],
    secrets: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
  },
  hosts: ['api.openai.com', 'dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com'],
  account: {
    key: 'OPENAI_API_KEY',
    token: null,
    baseUrl: 'OPENAI_BASE_URL',
    server: 'https://api.openai.com/v1',
    elsewhere: {
      variables: [],
      files: {
        'settings.json': '"(baseUrl|modelProviders)"|"selectedType"\\s*:\\s*"(?!openai)',
        '.env': 'OPENAI_|DASHSCOPE_',
        '~/.env': 'OPENAI_|DASHSCOPE_',
      },
    },
    directory: 'QWEN_HOME',
    baseUrlArguments: [],
    files: {
      'settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        // After each turn it would start an agent of its own to maintain its memory.
        memory: { enableManagedAutoMemory: false },
      }),
    },
    conversations: ['projects/*/chats/{session}.jsonl'],
    credentials: null,
  },
  promptMode: 'stream-json',
  // Its output does not confirm input lines, and it takes a repeated line twice.
  echoes: false,
  chooseSession: ['--session-id', '{session}'],
  resume: ['--resume', '{session}'],
  // It can fork, but only in the directory where the conversation started.
  fork: null,
  access: { full: ['--yolo'], ask: null, askWith: 'qwen-acp', readOnly: ['--approval-mode', 'plan'] },
  mcp: { format: 'claude', arguments: ['--mcp-config', '{file}'] },
  model: ['-m', '{model}'],
  options: { 'auth-type': ['--auth-type', '{value}'] },
  outputFormat: 'claude-stream-json',
  patterns: {
    limit: ['retrying in \\d{2,}s', 'quota', 'usage limit'],
    transient: ['api error: (?:429|5\\d\\d)', 'rate.?limit', 'overloaded'],
    auth: ['no auth type is selected', 'api error: 401', 'incorrect api key'],
  },
  // At a limit it waits silently for one minute, then two, and so on; when the model answers, it streams each piece.
  silence: { noticeMs: 45_000, hangMs: 150_000, meansLimit: true },
  firstSignal: 'SIGINT',
  // Its safe mode still reads variables from a repository, including the URL that the key is sent to.
  repositorySettings: { paths: ['.qwen/settings.json', '.qwen/.env', '.qwen/extensions/**', '.env'], block: null },
});

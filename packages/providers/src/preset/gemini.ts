import { definePreset } from './base.ts';

/** What it needs besides an API key. A person's own settings outweigh these. */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

/** Gemini CLI, one process for each turn. */
export const gemini = definePreset({
  name: 'gemini',
  description: 'Google Gemini CLI',
  command: ['gemini', '--output-format', 'stream-json'],
  process: { names: ['gemini'], commandLine: '(^|/)gemini$|/gemini-cli/' },
  env: {
    // It does not start unattended in a directory that nobody trusted; repositories are trusted with `pawl trust`.
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_TELEMETRY_ENABLED: 'false',
  },
  install: 'npm install -g @google/gemini-cli',
  variables: {
    settings: [
      'GOOGLE_GEMINI_BASE_URL',
      'GEMINI_MODEL',
      'GEMINI_CLI_HOME',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_CLOUD_LOCATION',
      'GOOGLE_GENAI_USE_VERTEXAI',
      'GOOGLE_GENAI_USE_GCA',
    ],
    secrets: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  },
  account: {
    key: 'GEMINI_API_KEY',
    token: null,
    baseUrl: 'GOOGLE_GEMINI_BASE_URL',
    directory: 'GEMINI_CLI_HOME',
    // No variable turns its usage statistics off.
    ownDirectory: true,
    baseUrlArguments: [],
    files: { '.gemini/settings.json': JSON.stringify(settings) },
    conversations: ['.gemini/tmp/*/chats/session-*-{short}.jsonl'],
    credentials: null,
  },
  chooseSession: ['--session-id', '{session}'],
  resume: ['--resume', '{session}'],
  // It keeps nothing of a conversation without an answer, and exits with code 42 when asked to resume it.
  resumesUnanswered: false,
  access: { full: ['--approval-mode', 'yolo'], readOnly: ['--approval-mode', 'plan'] },
  // It takes servers from its settings only. A file named by GEMINI_CLI_SYSTEM_DEFAULTS_PATH would do for one run, but it reads
  // that only where the file and all above it belong to root: who runs as root may say so in config.yaml.
  mcp: null,
  model: ['-m', '{model}'],
  outputFormat: 'gemini-stream-json',
  patterns: {
    limit: ['exhausted your (?:daily|current) quota', 'quota exceeded', 'resource_exhausted'],
    transient: ['api error: terminated', 'model is overloaded', '\\b50[0234]\\b'],
    auth: ['api key not valid', 'invalid auth method', 'unauthenticated'],
  },
  repositorySettings: {
    paths: ['.gemini/settings.json', '.gemini/.env', '.gemini/extensions/**', '.env'],
    block: null,
  },
});

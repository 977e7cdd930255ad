import { definePreset } from './base.ts';

/** Settings that it needs besides an API key. A person's own settings win. */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

/** Gemini CLI, one process per turn. */
export const gemini = definePreset({
  name: 'gemini',
  homePlaces: ['.gemini'],
  description: 'Google Gemini CLI',
  command: ['gemini', '--output-format', 'stream-json'],
  process: { names: ['gemini'], commandLine: '(^|/)gemini$|/gemini-cli/' },
  env: {
    // It does not start unattended in an untrusted directory; `pawl trust` is for repositories.
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
  hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
  account: {
    key: 'GEMINI_API_KEY',
    token: null,
    baseUrl: 'GOOGLE_GEMINI_BASE_URL',
    server: 'https://generativelanguage.googleapis.com',
    elsewhere: {
      variables: ['GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
      files: {
        '.gemini/settings.json': '"selectedType"\\s*:\\s*"(?!gemini-api-key)',
        '.gemini/.env': 'GEMINI|GOOGLE',
      },
    },
    directory: 'GEMINI_CLI_HOME',
    // No variable disables its usage statistics.
    ownDirectory: true,
    baseUrlArguments: [],
    files: { '.gemini/settings.json': JSON.stringify(settings) },
    conversations: ['.gemini/tmp/*/chats/session-*-{short}.jsonl'],
    credentials: null,
  },
  chooseSession: ['--session-id', '{session}'],
  resume: ['--resume', '{session}'],
  // It keeps no conversation without an answer, and exits with code 42 when asked to resume one.
  resumesUnanswered: false,
  access: {
    full: ['--approval-mode', 'yolo'],
    ask: null,
    askWith: 'gemini-acp',
    readOnly: ['--approval-mode', 'plan'],
  },
  // It takes servers only from its settings. A file named by GEMINI_CLI_SYSTEM_DEFAULTS_PATH would work for one run,
  // but it reads that only if root owns the file and all directories above; if you run as root, configure it in
  // config.yaml.
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

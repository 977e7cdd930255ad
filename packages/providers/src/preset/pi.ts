import { definePreset } from './base.ts';

/** pi, one process per turn. */
export const pi = definePreset({
  name: 'pi',
  homePlaces: ['.pi'],
  description: 'pi',
  command: ['pi', '--mode', 'json', '-p'],
  process: { names: ['pi'], commandLine: '(^|/)pi$|/pi-coding-agent/' },
  env: { PI_TELEMETRY: '0', PI_OFFLINE: '1' },
  install: 'npm install -g @earendil-works/pi-coding-agent',
  variables: {
    settings: ['PI_CODING_AGENT_DIR'],
    secrets: ['ANTHROPIC_API_KEY', 'ANTHROPIC_OAUTH_TOKEN', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    // It takes its server only from models.json.
    ignored: ['ANTHROPIC_BASE_URL'],
  },
  hosts: ['api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com', 'openrouter.ai'],
  account: {
    key: 'ANTHROPIC_API_KEY',
    token: 'ANTHROPIC_OAUTH_TOKEN',
    baseUrl: null,
    server: 'https://api.anthropic.com',
    // An extension may change the server, too, and a stored login outranks the variable.
    elsewhere: {
      variables: [],
      files: {
        'models.json': 'baseUrl',
        'settings.json': '"(?:extensions|packages)"',
        extensions: '.',
        'auth.json': '"anthropic"',
      },
    },
    serverIn: { file: 'models.json', pattern: '"anthropic"\\s*:\\s*\\{\\s*"baseUrl"\\s*:\\s*"([^"\\\\]+)"' },
    directory: 'PI_CODING_AGENT_DIR',
    // It takes a server for one run only from an extension, which outranks models.json.
    baseUrlArguments: ['--extension', '{file}'],
    baseUrlFile: {
      name: 'server.mjs',
      content: `export default (pi) => pi.registerProvider('anthropic', { baseUrl: "{baseUrl}" });\n`,
    },
    files: { 'models.json': '{"providers":{"anthropic":{"baseUrl":"{baseUrl}"}}}' },
    conversations: ['sessions/*/*_{session}.jsonl'],
    credentials: null,
  },
  systemPrompt: ['--append-system-prompt', '{file}'],
  chooseSession: ['--session-id', '{session}'],
  resume: ['--session', '{session}'],
  fork: ['--fork', '{session}'],
  forkStyle: 'native',
  tools: {
    allow: ['--tools', '{tools}'],
    deny: ['--exclude-tools', '{tools}'],
    names: { Read: 'read', Bash: 'bash', Edit: 'edit', Write: 'write', Grep: 'grep', Glob: 'find', LS: 'ls' },
  },
  access: { full: [], ask: null, readOnly: ['--exclude-tools', 'bash,edit,write,powershell'] },
  model: ['--model', '{model}'],
  options: { provider: ['--provider', '{value}'], thinking: ['--thinking', '{value}'] },
  outputFormat: 'pi-json',
  patterns: {
    limit: ['usage limit', 'quota', 'credit balance'],
    transient: ['^429 ', 'rate.?limit', 'overloaded', '\\b5\\d\\d\\b'],
    auth: ['no api key found', 'invalid x-api-key', '\\b401\\b'],
  },
  repositorySettings: { paths: ['.pi/**'], block: ['--no-approve'], allow: ['--approve'] },
  reportsCost: true,
});

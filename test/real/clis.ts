/** The coding CLIs that are tried for real, each at the version that it is known to work with. */
export type RealCli = {
  package: string;
  version: string;
  /** Which of our presets starts it, and which one takes follow-ups while it works. */
  provider: string;
  live: string | null;
  /** The base URL of an account, from the address of a model server. */
  baseUrl(server: string): string;
  model: string | null;
  /** What the shell of the one who asks says: tools that are looked up first are none that a script could call. */
  environment: Record<string, string>;
  /** Files in the CLI's own directory, for what has no variable. */
  settings: Record<string, string>;
};

export const realClis: Record<string, RealCli> = {
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    provider: 'claude',
    live: 'claude',
    baseUrl: (server) => server,
    model: null,
    environment: { ENABLE_TOOL_SEARCH: 'false' },
    settings: {},
  },
  codex: {
    package: '@openai/codex',
    version: '0.166.0',
    provider: 'codex',
    live: 'codex-live',
    baseUrl: (server) => `${server}/v1`,
    model: 'gpt-5.1-codex',
    environment: {},
    settings: {},
  },
  pi: {
    package: '@earendil-works/pi-coding-agent',
    version: '0.87.1',
    provider: 'pi',
    live: 'pi-live',
    baseUrl: (server) => server,
    model: null,
    environment: {},
    settings: {},
  },
  gemini: {
    package: '@google/gemini-cli',
    version: '0.61.0',
    provider: 'gemini',
    live: null,
    baseUrl: (server) => server,
    model: 'gemini-2.5-pro',
    environment: {},
    settings: {},
  },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    provider: 'opencode',
    live: null,
    baseUrl: (server) => `${server}/v1`,
    model: null,
    environment: {},
    settings: {},
  },
  qwen: {
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    provider: 'qwen',
    live: 'qwen',
    baseUrl: (server) => `${server}/v1`,
    model: 'scripted-1',
    environment: {},
    settings: {
      'settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        memory: { enableManagedAutoMemory: false },
        tools: { toolSearch: { enabled: false } },
      }),
    },
  },
};

/** The coding CLIs that are tried for real, each at the version that it is known to work with. */
export type RealCli = {
  package: string;
  version: string;
  /** The program, where it has another name than the CLI. */
  program?: string;
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
  /** A person's shell with a key and no account: its variables, and files below HOME; or why there is no such thing. */
  shell(server: string): PersonsShell | string;
  /** Where that key is. */
  shellKeyAt: 'proxy' | 'session';
  /** Names that it asks for although all its switches are set, and why. */
  asks: { names: RegExp; what: string; why: string } | null;
  /** Why it does not tell when a limit ends; null when it does. */
  hidesReset: string | null;
  /** Whether its calls with an API key go through the proxy. */
  proxied: boolean;
  /** It tells that with a token only, and not with an API key. */
  tellsWithToken?: true;
};

/** What a person has set up for a CLI, without Pawl. */
export type PersonsShell = { environment: Record<string, string>; files: Record<string, string> };

/** The key of a person's shell. */
export const shellKey = 'sk-test-shell-T3wq8Lp2Z';
const key = shellKey;

const anthropicShell = (url: string): PersonsShell => ({
  environment: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url },
  files: {},
});

const qwenSettings = {
  security: { auth: { selectedType: 'openai' } },
  memory: { enableManagedAutoMemory: false },
  tools: { toolSearch: { enabled: false } },
};

const continueConfig = (url: string) => `name: mine
version: 1.0.0
schema: v1
models:
  - name: mine
    provider: openai
    model: scripted-1
    apiBase: ${url}/v1
    apiKey: \${{ secrets.OPENAI_API_KEY }}
`;

const told = { asks: null, hidesReset: null };

export const realClis: Record<string, RealCli> = {
  claude: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    provider: 'claude',
    live: 'claude',
    baseUrl: (server) => server,
    model: null,
    environment: { ENABLE_TOOL_SEARCH: 'false' },
    settings: {},
    shell: anthropicShell,
    ...told,
    tellsWithToken: true,
  },
  codex: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: '@openai/codex',
    version: '0.166.0',
    provider: 'codex',
    live: 'codex-live',
    baseUrl: (server) => `${server}/v1`,
    model: 'gpt-5.1-codex',
    environment: {},
    settings: {},
    shell: (server) => ({
      environment: { CODEX_API_KEY: key },
      files: { '.codex/config.toml': `openai_base_url = "${server}/v1"\n` },
    }),
    ...told,
  },
  pi: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: '@earendil-works/pi-coding-agent',
    version: '0.87.1',
    provider: 'pi',
    live: 'pi-live',
    baseUrl: (server) => server,
    model: null,
    environment: {},
    settings: {},
    shell: (server) => ({
      environment: { ANTHROPIC_API_KEY: key },
      files: { '.pi/agent/models.json': JSON.stringify({ providers: { anthropic: { baseUrl: server } } }) },
    }),
    ...told,
    hidesReset: 'it repeats the body of a 429 and not its headers, and Anthropic names the time there only',
  },
  gemini: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: '@google/gemini-cli',
    version: '0.61.0',
    provider: 'gemini',
    live: null,
    baseUrl: (server) => server,
    model: 'gemini-2.5-pro',
    environment: {},
    settings: {},
    shell: (server) => ({
      environment: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: server },
      files: {},
    }),
    ...told,
  },
  opencode: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: 'opencode-ai',
    version: '1.18.33',
    provider: 'opencode',
    live: null,
    baseUrl: (server) => `${server}/v1`,
    model: null,
    environment: {},
    settings: {},
    shell: (server) => anthropicShell(`${server}/v1`),
    ...told,
    asks: { names: /^registry\./, what: 'the package registry', why: 'once, when its own config directory is new' },
    hidesReset: 'its log names no time',
  },
  qwen: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    provider: 'qwen',
    live: 'qwen',
    baseUrl: (server) => `${server}/v1`,
    model: 'scripted-1',
    environment: {},
    settings: {
      'settings.json': JSON.stringify(qwenSettings),
    },
    shell: (server) => ({
      environment: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${server}/v1`, OPENAI_MODEL: 'scripted-1' },
      files: { '.qwen/settings.json': JSON.stringify(qwenSettings) },
    }),
    ...told,
    hidesReset: 'it waits without a word',
  },
  copilot: {
    proxied: true,
    shellKeyAt: 'proxy',
    package: '@github/copilot',
    version: '1.0.102',
    provider: 'copilot',
    live: null,
    baseUrl: (server) => `${server}/v1`,
    model: 'scripted-1',
    environment: {},
    settings: {},
    shell: (server) => ({
      environment: { COPILOT_PROVIDER_API_KEY: key, COPILOT_PROVIDER_BASE_URL: `${server}/v1` },
      files: {},
    }),
    ...told,
  },
  cline: {
    proxied: false,
    shellKeyAt: 'session',
    package: 'cline',
    version: '3.0.65',
    provider: 'cline',
    live: null,
    baseUrl: (server) => `${server}/v1`,
    model: 'scripted-1',
    environment: {},
    settings: {},
    shell: () => 'it takes no key from a shell',
    ...told,
  },
  continue: {
    proxied: false,
    shellKeyAt: 'session',
    package: '@continuedev/cli',
    version: '1.5.47',
    program: 'cn',
    provider: 'continue',
    live: null,
    baseUrl: (server) => `${server}/v1`,
    model: 'scripted-1',
    environment: {},
    settings: {},
    shell: (server) => ({
      environment: { OPENAI_API_KEY: key },
      files: { '.continue/config.yaml': continueConfig(server) },
    }),
    ...told,
    asks: {
      names: /^api\.continue\.dev$/,
      what: 'api.continue.dev',
      why: 'it looks for its newest version at every start, without a switch',
    },
  },
};

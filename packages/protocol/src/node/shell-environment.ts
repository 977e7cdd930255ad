import { limits } from '@pawl/schema/limit';

/** Prefixes of variables from which coding CLIs read servers, models and keys. */
const beginnings = [
  'ANTHROPIC_',
  'CLAUDE_',
  'OPENAI_',
  'CODEX_',
  'GEMINI_',
  'GOOGLE_',
  'OPENCODE_',
  'QWEN_',
  'DASHSCOPE_',
  'PI_',
  'COPILOT_',
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'CONTINUE_',
  'CURSOR_',
  'AIDER_',
  'CLINE_',
  'OPENROUTER_',
  'XDG_',
  'AWS_REGION',
  'AWS_PROFILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_BEARER_TOKEN_BEDROCK',
  'CLOUD_ML_REGION',
  'MAX_THINKING_TOKENS',
  'API_TIMEOUT_MS',
  'ENABLE_TOOL_SEARCH',
];
/** The PATH of a shell, cut to fit into a request: whole directories, first ones first. */
export function searchPathOf(environment: NodeJS.ProcessEnv): { searchPath?: string } {
  const path = environment['PATH'] ?? '';
  if (path === '' || path.includes('\0')) return {};
  if (path.length <= limits.searchPathCharacters) return { searchPath: path };
  const end = path.lastIndexOf(':', limits.searchPathCharacters);
  return end <= 0 ? {} : { searchPath: path.slice(0, end) };
}

const longestValue = 8_192;
const mostVariables = 100;

/**
 * The shell variables that coding CLIs read: those with a known prefix, and those in `names`, which custom providers
 * read. Sent with a request for work, so that an agent uses the server set in the requesting shell, not the one of the
 * shell that started the daemon. The daemon keeps only what the agent's provider reads.
 */
export function providerVariables(
  environment: NodeJS.ProcessEnv,
  names: readonly string[] = [],
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '' || value.length > longestValue || value.includes('\0')) continue;
    if (names.includes(name) || beginnings.some((beginning) => name.startsWith(beginning))) found[name] = value;
    if (Object.keys(found).length >= mostVariables) break;
  }
  return found;
}

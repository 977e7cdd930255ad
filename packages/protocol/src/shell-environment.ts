import { limits } from '@pawl/schema/limit';

/** The beginnings of names that coding CLIs read their servers, models and keys from. */
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
/** The PATH of a shell as far as it fits into a request: whole directories, the first ones first. */
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
 * The variables of a shell that coding CLIs read: those with a known beginning, and those in `names`, which providers of one's own read.
 * They go along with a request for work, so that an agent talks to the server that is set where it was asked for, and not to the one of
 * the shell that started the daemon. The daemon keeps only what the agent's provider reads.
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

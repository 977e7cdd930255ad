import { createRedaction } from '@pawl/host/output/secret-mask';
import type { McpServer } from '@pawl/providers/command';
import { isOrdinary, isSecretName } from './secret-names.ts';
import type { SessionPlatform } from './session-platform.ts';

type RedactionContext = Pick<SessionPlatform, 'accounts' | 'authority' | 'choices'>;

/**
 * Masks all secrets of this home in text from outside. Requests are masked at the door, files where they are read.
 * `more` are secrets that came with the text.
 */
export function redact(platform: RedactionContext, text: string, more: readonly string[] = []): string {
  return createRedaction([...homeSecrets(platform), ...platform.authority.tokensIn(text), ...more])(text);
}

const maxDepth = 200;

/** Masks all text in a value, including field names; null if it is nested too deeply. */
export function redactValue(
  platform: RedactionContext,
  value: unknown,
  more: readonly string[] = [],
): { value: unknown } | null {
  const secrets = [...homeSecrets(platform), ...more];
  const clean = createRedaction(secrets);
  const text = (each: string) => {
    const tokens = platform.authority.tokensIn(each);
    return tokens.length === 0 ? clean(each) : createRedaction([...secrets, ...tokens])(each);
  };
  const walk = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return text(each);
    if (typeof each !== 'object' || each === null) return each;
    if (depth >= maxDepth) throw new TooDeep();
    if (Array.isArray(each)) return each.map((item) => walk(item, depth + 1));
    return Object.fromEntries(Object.entries(each).map(([name, item]) => [text(name), walk(item, depth + 1)]));
  };
  try {
    return { value: walk(value, 0) };
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
}

class TooDeep extends Error {}

/** The secrets of accounts and `config.yaml`; tokens are handled separately. */
export function homeSecrets({ accounts, choices }: Pick<RedactionContext, 'accounts' | 'choices'>): string[] {
  return [...serverSecrets(choices.mcpServers), ...accounts.secrets()];
}

/**
 * Possible secrets in the person's MCP servers: headers, and environment values other than words, paths and plain
 * addresses, unless their name suggests a secret.
 */
function serverSecrets(servers: Record<string, McpServer>): string[] {
  return Object.values(servers)
    .flatMap((server) => Object.entries('url' in server ? server.headers : server.env))
    .filter(([name, value]) => isSecretName(name) || !/^(?:~?\/|https?:\/\/[^/@?#]*\/?$)/.test(value))
    .flatMap(([, value]) => [value, ...value.split(/\s+/)])
    .filter((value) => !isOrdinary(value));
}

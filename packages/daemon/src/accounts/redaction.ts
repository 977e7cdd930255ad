import { createRedaction } from '@pawl/host/output/secret-mask';
import type { McpServer } from '@pawl/providers/command';
import { isOrdinary, isSecretName } from './secret-names.ts';
import type { SessionPlatform } from './session-platform.ts';

type Keeper = Pick<SessionPlatform, 'accounts' | 'authority' | 'choices'>;

/**
 * Text from outside as it may be kept: every secret of this home is masked in it. What comes in by a request
 * went through here at the door; what comes by a file goes through here where it is read. `more` are secrets that came with it.
 */
export function redact(platform: Keeper, text: string, more: readonly string[] = []): string {
  return createRedaction([...homeSecrets(platform), ...platform.authority.tokensIn(text), ...more])(text);
}

/** How deep a value may be nested. */
const mostDepth = 200;

/** Every text in a value as it may be kept, names of fields included; null when it is nested too deep to be looked through. */
export function redactValue(platform: Keeper, value: unknown, more: readonly string[] = []): { value: unknown } | null {
  const secrets = [...homeSecrets(platform), ...more];
  const clean = createRedaction(secrets);
  const text = (each: string) => {
    const tokens = platform.authority.tokensIn(each);
    return tokens.length === 0 ? clean(each) : createRedaction([...secrets, ...tokens])(each);
  };
  const walk = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return text(each);
    if (typeof each !== 'object' || each === null) return each;
    if (depth >= mostDepth) throw new TooDeep();
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

/** What stands nowhere in a home but with its accounts and in `config.yaml`; its tokens come beside it. */
function homeSecrets({ accounts, choices }: Keeper): string[] {
  return [...serverSecrets(choices.mcpServers), ...accounts.secrets()];
}

/**
 * What of the person's MCP servers may be secret: headers, and the environment but for words, paths and plain addresses whose
 * name does not say that they are secret.
 */
export function serverSecrets(servers: Record<string, McpServer>): string[] {
  return Object.values(servers)
    .flatMap((server) => Object.entries('url' in server ? server.headers : server.env))
    .filter(([name, value]) => isSecretName(name) || !/^(?:~?\/|https?:\/\/[^/@?#]*\/?$)/.test(value))
    .flatMap(([, value]) => [value, ...value.split(/\s+/)])
    .filter((value) => !isOrdinary(value));
}

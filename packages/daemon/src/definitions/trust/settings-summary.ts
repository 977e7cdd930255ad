import { parseWithComments } from './plain-json.ts';
import { trustLimits } from './trust-limit.ts';

/** Names of settings that run a program or contact a server. */
const telling =
  /command|args|url|uri|endpoint|host|proxy|helper|script|hook|plugin|extension|exec|program|shell|provider|permission|allow|trust|approval|sandbox|instructions|transport|notify/i;
/** Settings below these are variables: their names are shown, their values may be secret. */
const variables = /^(env|environment|env_vars|headers|http_headers|envFile)$/i;

/**
 * Summarises a settings file for a person: the commands it runs, the addresses it contacts, the permissions it grants.
 */
export function summarise(path: string, bytes: Uint8Array): string[] {
  const text = new TextDecoder().decode(bytes);
  const lines = linesOf(path, text);
  if (lines.length === 0) return [`${count(text)} without a command, an address or a permission`];
  const { summaryLines, summaryCharacters } = trustLimits;
  const shown = lines
    .slice(0, summaryLines)
    .map((line) => (line.length > summaryCharacters ? `${line.slice(0, summaryCharacters - 1)}…` : line));
  return lines.length > summaryLines ? [...shown, `and ${lines.length - summaryLines} more`] : shown;
}

function linesOf(path: string, text: string): string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^\.env(\.|$)/.test(name)) return assignments(text);
  if (/\.jsonc?$/.test(name)) {
    const value = parseWithComments(text);
    return value === undefined ? ['cannot be read as JSON', ...tellingLines(text)] : leaves(value);
  }
  if (/\.(toml|ya?ml|ini|conf)$/.test(name)) return tellingLines(text);
  if (/\.(m?[jt]sx?|cjs|cts|py|sh|bash|rb|pl|wasm)$/.test(name)) return [`code that it would run: ${count(text)}`];
  return tellingLines(text);
}

/** The relevant values of settings, each with its path. */
function leaves(value: unknown, at = '', inTelling = false, inVariables = false, depth = 0): string[] {
  if (depth > trustLimits.summaryDepth) return [`${at}: nested too deeply to be shown`];
  if (Array.isArray(value)) {
    const plain = value.every((each) => typeof each !== 'object' || each === null);
    if (plain && value.length > 0 && (inTelling || inVariables)) return [`${at}: ${value.map(String).join(' ')}`];
    return value.flatMap((each, index) => leaves(each, `${at}[${index}]`, inTelling, inVariables, depth + 1));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, each]) =>
      leaves(
        each,
        at === '' ? key : `${at}.${key}`,
        inTelling || telling.test(key),
        inVariables || variables.test(key),
        depth + 1,
      ),
    );
  }
  if (inVariables) return [`${at}: ${shownValue(String(value))}`];
  return inTelling ? [`${at}: ${withoutSecret(String(value))}`] : [];
}

function assignments(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*["']?([^"'\r]*)/.exec(line) ?? [];
    return name === undefined ? [] : [`${name}: ${shownValue(value)}`];
  });
}

/** The relevant lines of a file that is not parsed. */
function tellingLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && (telling.test(line) || line.startsWith('[')))
    .map(withoutSecret);
}

/** Shows a variable's value only if it is an address, since that changes which server a program contacts. */
function shownValue(value: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? withoutSecret(value) : '(a value)';
}

/** An address without user name and password. Reads no more than is shown. */
function withoutSecret(text: string): string {
  const shown = text.slice(0, trustLimits.summaryCharacters * 2);
  return shown.replaceAll(/(:\/\/)[^\s/@]+@/g, '$1…@');
}

function count(text: string): string {
  const lines = text.split('\n').length;
  return `${lines} ${lines === 1 ? 'line' : 'lines'}`;
}

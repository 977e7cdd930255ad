/** Formats a duration: 820ms, 4.2s, 3m12s, 5h03m. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  // Each unit ends where its last digit would round up to the next one: 60.0s is 1m00s.
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.max(60, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** An age in words; below a second it is "just now". */
export function ago(ms: number): string {
  return ms < 1000 ? 'just now' : `${duration(ms)} ago`;
}

/** Formats tokens: 950, 12.3k, 4.5M. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Formats bytes: 512 B, 3.4 KB, 12.0 MB. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1023.95 * 1024 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 / 1024).toFixed(1)} MB`;
}

/** The local time of day. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** A count with its noun: 1 agent, 3 agents. */
export function count(things: number, thing: string): string {
  return `${things} ${thing}${things === 1 ? '' : 's'}`;
}

/** Names shown in a sentence; --json has all. */
const namedInText = 12;

/** Names in a sentence; beyond a dozen only counted. */
export function names(all: string[]): string {
  const rest = all.length - namedInText;
  return rest > 0 ? `${all.slice(0, namedInText).join(', ')} and ${rest} more` : all.join(', ');
}

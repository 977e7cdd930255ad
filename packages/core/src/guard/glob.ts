/**
 * Matches a path against a glob: `*` and `?` stay within a directory, `**` spans directories, and a trailing `/` means
 * everything below. Linear backtracking, so no pattern is slow. Without `dots`, no wildcard stands for the first dot of a
 * name.
 */
export function matchesGlob(pattern: string, path: string, { dots = true }: { dots?: boolean } = {}): boolean {
  const parts = (pattern.endsWith('/') ? `${pattern}**` : pattern).replace(/^\.?\//, '').split('/');
  const isHidden = (name: string) => !dots && name.startsWith('.');
  return matchParts(
    parts,
    path.split('/'),
    (part) => part === '**',
    (part, name) => (!isHidden(name) || part.startsWith('.')) && matchPart(part, name),
    (name) => !isHidden(name),
  );
}

function matchPart(pattern: string, name: string): boolean {
  return matchParts(
    Array.from(pattern),
    Array.from(name),
    (one) => one === '*',
    (one, letter) => one === '?' || one === letter,
  );
}

/** Standard wildcard matching: only the last multi-match wildcard is ever widened. */
function matchParts<T>(
  pattern: readonly T[],
  text: readonly T[],
  isMany: (one: T) => boolean,
  isSame: (one: T, other: T) => boolean,
  mayTake: (one: T) => boolean = () => true,
): boolean {
  let at = 0;
  let last: { pattern: number; text: number } | null = null;
  let place = 0;
  while (place < text.length) {
    const one = pattern[at];
    if (one !== undefined && isMany(one)) {
      last = { pattern: at, text: place };
      at += 1;
    } else if (one !== undefined && isSame(one, text[place] as T)) {
      at += 1;
      place += 1;
    } else if (last !== null && mayTake(text[last.text] as T)) {
      last.text += 1;
      place = last.text;
      at = last.pattern + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(isMany);
}

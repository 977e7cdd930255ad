/** A pattern for one name in a path, in which `*` stands for any letters. */
export function nameShape(segment: string): RegExp {
  const parts = segment.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

/** The names of a path of a preset: none stands for nothing, and none leads up. */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.includes('..') ? [] : segments;
}

/** True when a path of a preset stands for a file, for a directory above it, or, when a link is in the way, for one below. */
export function covers(path: string, file: string): boolean {
  const shapes = segmentsOf(path).map((segment) => (segment === '**' ? null : nameShape(segment)));
  const names = file.split('/');
  for (const [index, shape] of shapes.entries()) {
    const name = names[index];
    if (shape === null || name === undefined) return true;
    if (!shape.test(name)) return false;
  }
  return shapes.length > 0;
}

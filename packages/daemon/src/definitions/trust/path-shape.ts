/** A pattern for one path segment, in which `*` matches any characters. */
export function nameShape(segment: string): RegExp {
  const parts = segment.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

/** The segments of a preset's path, without empty ones, `.` or `..`. */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.includes('..') ? [] : segments;
}

/** True if a preset's path matches a file, a directory above it, or, with a link in between, one below it. */
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

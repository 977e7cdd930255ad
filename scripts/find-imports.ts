/** A file of the workspace: its path from the root, with `/`, and its text. */
export type SourceFile = { path: string; text: string };

/** The area of a file: a package's sources, its tests, or (without a package) the root's demo, bench and tests. */
type Home = { packageName: string | null; part: string };
/** One import: its module and position. */
export type Import = { file: string; line: number; module: string; home: Home };

function homeOf(path: string): Home {
  const [top = '', packageName = '', part = ''] = path.split('/');
  return top === 'packages' ? { packageName, part } : { packageName: null, part: top };
}

/** Statements start in the first column, as formatted; calls such as import() may be anywhere in code. */
const statement = /^(?:import|export)\b[^'";]*?(?:\bfrom\s*)?(['"])([^'"\n]+)\1/gm;
const call = /\b(?:import|require|getBuiltinModule)\(\s*(['"])([^'"\n]+)\1/g;
const comment = /^\s*(?:\/\/|\/?\*)/;

/** All modules that a file imports: statements, loading calls, and inline type imports. */
export function findImports({ path, text }: SourceFile): Import[] {
  const found = [...text.matchAll(statement), ...text.matchAll(call)].filter((match) => {
    const lineStart = text.lastIndexOf('\n', match.index) + 1;
    const isStatement = match.index === lineStart;
    if (isStatement) return /^import\b|\bfrom\s*['"]/.test(match[0]);
    return !comment.test(text.slice(lineStart, match.index)) && !isQuoted(text.slice(lineStart, match.index));
  });
  return found
    .map((match) => ({
      file: path,
      line: text.slice(0, match.index).split('\n').length,
      module: match[2] ?? '',
      home: homeOf(path),
    }))
    .sort((one, other) => one.line - other.line);
}

/** True after an odd number of quotes: the rest of the line starts inside a string. */
function isQuoted(before: string): boolean {
  return ["'", '"', '`'].some((quote) => before.split(quote).length % 2 === 0);
}

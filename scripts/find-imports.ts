/** A file of the workspace: its path from the root, with `/`, and its text. */
export type SourceFile = { path: string; text: string };

/** Where a file belongs: a package's sources, its tests, or (with no package) the root's demo, bench and tests. */
type Home = { packageName: string | null; part: string };
/** One import of a file: what it names, and where. */
export type Import = { file: string; line: number; module: string; home: Home };

function homeOf(path: string): Home {
  const [top = '', packageName = '', part = ''] = path.split('/');
  return top === 'packages' ? { packageName, part } : { packageName: null, part: top };
}

/** Statements begin in the first column, as the formatter has it; calls such as import() may stand anywhere in code. */
const statement = /^(?:import|export)\b[^'";]*?(?:\bfrom\s*)?(['"])([^'"\n]+)\1/gm;
const call = /\b(?:import|require|getBuiltinModule)\(\s*(['"])([^'"\n]+)\1/g;
const comment = /^\s*(?:\/\/|\/?\*)/;

/** Every module that a file imports: statements, calls that load one, and types that are imported in place. */
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

/** True where an odd number of quotes stands before: the rest of the line begins inside a string. */
function isQuoted(before: string): boolean {
  return ["'", '"', '`'].some((quote) => before.split(quote).length % 2 === 0);
}

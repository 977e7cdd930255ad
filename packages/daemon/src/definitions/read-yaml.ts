import { definitionLimits } from '@pawl/core/definitions/definition-limit';
import type { Complaint, Field, ReadYaml } from '@pawl/core/definitions/front-matter';
import { messageOf } from '@pawl/schema/error';
import type * as Library from 'yaml';
import type { Document, Node, YAMLError } from 'yaml';

type Yaml = typeof Library;

/** Loads the YAML library and returns a front matter parser, which never throws. */
export async function loadReadYaml(): Promise<ReadYaml> {
  const yaml = await import('yaml');
  return (text) => {
    if (isNestedTooDeeply(text)) return { ok: false, line: 1, reason: 'the front matter is nested too deeply' };
    const lineCounter = new yaml.LineCounter();
    const lineAt = (offset: number) => lineCounter.linePos(offset).line;
    // The library compares each key with every other, which a hostile file turns into seconds; `findRepeated` counts
    // them once.
    const options = {
      lineCounter,
      prettyErrors: false,
      stringKeys: true,
      uniqueKeys: false,
      logLevel: 'error',
    } as const;
    try {
      const document: Document = yaml.parseDocument(text, options);
      const [error] = document.errors;
      if (error !== undefined) return { ok: false, line: lineAt(error.pos[0]), reason: reasonOf(error) };
      return readFields(yaml, document, (node) => lineAt(node.range?.[0] ?? 0));
    } catch (error) {
      return { ok: false, line: 1, reason: `not YAML: ${messageOf(error)}` };
    }
  };
}

function reasonOf({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS' ? 'not YAML: there is text after the line that ends it' : `not YAML: ${message}`;
}

function readFields(yaml: Yaml, document: Document, lineOf: (node: Node) => number): ReturnType<ReadYaml> {
  if (document.contents === null) return { ok: true, fields: [] };
  if (!yaml.isMap(document.contents)) {
    return { ok: false, line: 2, reason: 'the front matter must be lines of the form `field: value`' };
  }
  const repeated = findRepeated(yaml, document, lineOf);
  if (repeated !== null) return { ok: false, ...repeated };
  let aliasLine = 1;
  try {
    yaml.visit(document, {
      Alias: (_, node) => {
        aliasLine = lineOf(node);
        return yaml.visit.BREAK;
      },
    });
    const values = document.toJS({ maxAliasCount: definitionLimits.aliases }) as Record<string, unknown>;
    // An alias may contain itself, which cannot be printed or compared.
    JSON.stringify(values);
    const fields = document.contents.items.flatMap(({ key }): Field[] => {
      if (!yaml.isScalar(key)) return [];
      const name = String(key.value);
      return [{ name, line: lineOf(key), value: Object.hasOwn(values, name) ? values[name] : null }];
    });
    return { ok: true, fields };
  } catch {
    return { ok: false, line: aliasLine, reason: 'a YAML alias is unknown, repeated too often, or contains itself' };
  }
}

function findRepeated(yaml: Yaml, document: Document, lineOf: (node: Node) => number): Complaint | null {
  let found: Complaint | null = null;
  yaml.visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!yaml.isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = { line: lineOf(key), reason: `${JSON.stringify(key.value)} is given twice` };
          return yaml.visit.BREAK;
        }
        seen.add(key.value);
      }
    },
  });
  return found;
}

/** True for a text whose nesting alone would keep the library busy: brackets, or lists in lists on one line. */
function isNestedTooDeeply(text: string): boolean {
  const { nesting } = definitionLimits;
  if (new RegExp(`(?:[-?:][ \\t]+){${nesting}}`).test(text)) return true;
  let depth = 0;
  for (const letter of text) {
    if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth = Math.max(0, depth - 1);
    if (depth > nesting) return true;
  }
  return false;
}

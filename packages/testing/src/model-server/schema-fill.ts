import type { Json } from './json.ts';
import { listOf, objectOf, textOf } from './json.ts';
import { modelServerLimits } from './limit.ts';

/** An object that fits a JSON schema: the known values, and the simplest value for every other required field. */
export function fillSchema(schema: Json, known: Json = {}, depth = 0): Json {
  const properties = objectOf(schema['properties']);
  const filled: Json = { ...known };
  for (const name of listOf(schema['required']).map(textOf)) {
    if (!Object.hasOwn(filled, name)) filled[name] = plainValue(objectOf(properties[name]), name, depth + 1);
  }
  return filled;
}

/** The types that a schema allows. Gemini writes them in capitals, and some write a list. */
export function typesOf(schema: Json): string[] {
  const type = schema['type'];
  const own = (Array.isArray(type) ? type : [type]).map((name) => textOf(name).toLowerCase());
  const named = own.filter((name) => name !== '');
  if (named.length > 0) return named;
  return [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])].flatMap((each) => typesOf(objectOf(each)));
}

function plainValue(schema: Json, name: string, depth: number): unknown {
  if (depth > modelServerLimits.schemaDepth) return null;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const choices = listOf(schema['enum']);
  if (choices.length > 0) return choices[0];
  const types = typesOf(schema);
  if (types.includes('null')) return null;
  const alternative = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])][0];
  if (alternative !== undefined) return plainValue(objectOf(alternative), name, depth + 1);
  switch (types[0]) {
    case 'object':
      return fillSchema(schema, {}, depth);
    case 'array':
      return Number(schema['minItems'] ?? 0) > 0 ? [plainValue(objectOf(schema['items']), name, depth + 1)] : [];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    default:
      return `scripted ${name}`.replaceAll('_', ' ');
  }
}

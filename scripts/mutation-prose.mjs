// A Stryker plugin: sentences are not mutated. Tests check decisions; a test of each sentence would be a copy of it.
const reason = 'words for a person or a model';
const isPlain = ({ type }) => type === 'Identifier' || type === 'MemberExpression';

/** @public Loaded by Stryker. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'prose',
    value: {
      shouldIgnore(path) {
        const { node } = path;
        if (path.isStringLiteral() && /\S\s/.test(node.value)) return reason;
        // A template with a decision in it is mutated as a whole.
        if (!path.isTemplateLiteral() || !node.expressions.every(isPlain)) return undefined;
        return node.quasis.some(({ value }) => /\w\s/.test(value.raw)) ? reason : undefined;
      },
    },
  },
];

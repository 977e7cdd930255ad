import type { TiptapMark, TiptapNode } from '@pawl/schema/plan/tiptap';

/** Foreign documents are read to this depth. */
const deepest = 50;

/** Converts markdown to a Tiptap document: headings, lists, quotes, code, rules, and the usual formatting of text. */
export function tiptapOf(markdown: string): TiptapNode {
  return { type: 'doc', content: blocksOf(markdown.replaceAll('\r\n', '\n').split('\n'), 0) };
}

/** Converts a Tiptap document to markdown. */
export function markdownOf(node: TiptapNode): string {
  return `${blockText(node, 0).trim()}\n`;
}

const bullet = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/;

function blocksOf(lines: readonly string[], depth: number): TiptapNode[] {
  const blocks: TiptapNode[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const [node, next] = depth > deepest ? [paragraph([line]), at + 1] : blockAt(lines, at, depth);
    if (line.trim() !== '') blocks.push(node);
    at = line.trim() === '' ? at + 1 : next;
  }
  return blocks;
}

/** The block that starts at a line, and the line after it. */
function blockAt(lines: readonly string[], at: number, depth: number): [TiptapNode, number] {
  const line = lines[at] ?? '';
  const heading = /^(#{1,6}) +(.*?)(?: +#+)?$/.exec(line);
  if (heading !== null)
    return [{ type: 'heading', attrs: { level: heading[1]?.length }, content: inline(heading[2] ?? '') }, at + 1];
  const fence = /^(`{3,}|~{3,}) *([^`]*)$/.exec(line);
  if (fence !== null) return fenced(lines, at, fence[1] ?? '```', (fence[2] ?? '').trim());
  if (/^(?:-{3,}|\*{3,}|_{3,})$/.test(line.trim())) return [{ type: 'horizontalRule' }, at + 1];
  if (line.startsWith('>')) return quote(lines, at, depth);
  if (bullet.test(line)) return list(lines, at, depth);
  let end = at + 1;
  while (end < lines.length && isMore(lines[end] ?? '')) end += 1;
  return [paragraph(lines.slice(at, end)), end];
}

/** True for a line that continues a paragraph. */
function isMore(line: string): boolean {
  return line.trim() !== '' && !/^(?:#{1,6} |`{3}|~{3}|>)/.test(line) && !bullet.test(line);
}

function paragraph(lines: readonly string[]): TiptapNode {
  return { type: 'paragraph', content: inline(lines.map((line) => line.trim()).join(' ')) };
}

function fenced(lines: readonly string[], at: number, mark: string, language: string): [TiptapNode, number] {
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => line.trimEnd().startsWith(mark));
  const inside = rest.slice(0, end === -1 ? rest.length : end).join('\n');
  const content = inside === '' ? {} : { content: [{ type: 'text', text: inside }] };
  return [
    { type: 'codeBlock', attrs: { language: language === '' ? null : language }, ...content },
    end === -1 ? lines.length : at + end + 2,
  ];
}

function quote(lines: readonly string[], at: number, depth: number): [TiptapNode, number] {
  let end = at;
  while (end < lines.length && (lines[end] ?? '').startsWith('>')) end += 1;
  const inside = lines.slice(at, end).map((line) => line.replace(/^> ?/, ''));
  return [{ type: 'blockquote', content: blocksOf(inside, depth + 1) }, end];
}

function list(lines: readonly string[], at: number, depth: number): [TiptapNode, number] {
  const isOrdered = /\d/.test(bullet.exec(lines[at] ?? '')?.[2] ?? '');
  const items: TiptapNode[] = [];
  let next = at;
  while (next < lines.length) {
    const start = bullet.exec(lines[next] ?? '');
    if (start === null || /\d/.test(start[2] ?? '') !== isOrdered) break;
    const indent = Math.max(2, (start[0] ?? '').length);
    const inside = [(lines[next] ?? '').slice((start[0] ?? '').length)];
    for (next += 1; next < lines.length; next++) {
      const line = lines[next] ?? '';
      const isInside =
        line.startsWith(' '.repeat(indent)) ||
        (line.trim() === '' && (lines[next + 1] ?? '').startsWith(' '.repeat(indent)));
      if (!isInside) break;
      inside.push(line.slice(indent));
    }
    items.push({ type: 'listItem', content: blocksOf(inside, depth + 1) });
    while ((lines[next] ?? 'x').trim() === '' && bullet.test(lines[next + 1] ?? '')) next += 1;
  }
  const first = Number.parseInt(bullet.exec(lines[at] ?? '')?.[2] ?? '1', 10);
  return [
    {
      type: isOrdered ? 'orderedList' : 'bulletList',
      ...(isOrdered ? { attrs: { start: first } } : {}),
      content: items,
    },
    next,
  ];
}

/** Formatting by its marks in markdown; code first, since nothing is formatted inside it. */
const formats: [pattern: RegExp, type: string][] = [
  [/`([^`]+)`/, 'code'],
  [/\[([^\]]+)\]\(([^)\s]+)\)/, 'link'],
  [/\*\*([^*]+)\*\*/, 'bold'],
  [/~~([^~]+)~~/, 'strike'],
  [/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/, 'italic'],
];

function inline(text: string, marks: TiptapMark[] = []): TiptapNode[] {
  if (text === '') return [];
  const found = formats
    .flatMap(([pattern, type]) => {
      const match = pattern.exec(text);
      return match === null ? [] : [{ match, type }];
    })
    .toSorted((one, other) => one.match.index - other.match.index)[0];
  if (found === undefined) return [textNode(text, marks)];
  const { match, type } = found;
  const mark = type === 'link' ? { type, attrs: { href: match[2] } } : { type };
  const inside = [...marks, mark];
  return [
    ...(match.index === 0 ? [] : [textNode(text.slice(0, match.index), marks)]),
    ...(type === 'code' ? [textNode(match[1] ?? '', inside)] : inline(match[1] ?? '', inside)),
    ...inline(text.slice(match.index + match[0].length), marks),
  ];
}

function textNode(text: string, marks: TiptapMark[]): TiptapNode {
  return { type: 'text', ...(marks.length === 0 ? {} : { marks }), text };
}

function blockText(node: TiptapNode, depth: number): string {
  const inside = depth > deepest ? [] : (node.content ?? []);
  const blocks = () => inside.map((each) => blockText(each, depth + 1)).join('\n\n');
  switch (node.type) {
    case 'heading':
      return `${'#'.repeat(Math.min(6, Math.max(1, Number(node.attrs?.['level']) || 1)))} ${inlineText(inside)}`;
    case 'paragraph':
      return inlineText(inside);
    case 'codeBlock':
      return `\`\`\`${textIn(node.attrs, 'language')}\n${inside.map(({ text }) => text ?? '').join('')}\n\`\`\``;
    case 'blockquote':
      return blocks()
        .split('\n')
        .map((line) => `> ${line}`.trimEnd())
        .join('\n');
    case 'horizontalRule':
      return '---';
    case 'bulletList':
      return inside.map((item) => itemText(item, '- ', depth)).join('\n');
    case 'orderedList': {
      const start = Number(node.attrs?.['start']) || 1;
      return inside.map((item, index) => itemText(item, `${start + index}. `, depth)).join('\n');
    }
    case 'text':
    case 'hardBreak':
      return inlineText([node]);
    default:
      return blocks();
  }
}

function itemText(item: TiptapNode, mark: string, depth: number): string {
  const inside = (item.content ?? []).map((each) => blockText(each, depth + 1));
  // A list right after the text of an item stays with it.
  const text = inside.join('\n\n').replaceAll(/\n\n(?=(?:[-*+]|\d+[.)]) )/g, '\n');
  return (
    mark +
    text
      .split('\n')
      .join(`\n${' '.repeat(mark.length)}`)
      .replaceAll(/\n +(?=\n)/g, '\n')
  );
}

function inlineText(nodes: readonly TiptapNode[]): string {
  return nodes
    .map(({ type, text = '', marks = [] }) => {
      if (type === 'hardBreak') return '\n';
      // The innermost mark is the last one.
      return marks.toReversed().reduce((inside, mark) => marked(inside, mark), text);
    })
    .join('');
}

function marked(text: string, { type, attrs }: TiptapMark): string {
  const around: Record<string, string> = { bold: '**', italic: '*', code: '`', strike: '~~' };
  if (type === 'link') return `[${text}](${textIn(attrs, 'href')})`;
  const mark = around[type] ?? '';
  return `${mark}${text}${mark}`;
}

/** An attribute, if it is a text. */
function textIn(attrs: TiptapMark['attrs'], name: string): string {
  const value = attrs?.[name];
  return typeof value === 'string' ? value : '';
}
